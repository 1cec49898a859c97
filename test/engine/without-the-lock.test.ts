/**
 * Goal: a tab that goes on without the lock, because another tab hangs with it, has the operation to itself, as a tab with the lock has (A32). Method: the tab
 * that hangs gives up at 40 s and frees the lock. By then the other one, which waited for 30 s, drives the operation. Then another feature acts.
 */
import { describe, expect } from 'vitest';
import { clear, close, forget, move, type OnceOptions, pending, resumeOne, run, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, delayed, type Entry, hangs, lost, replays } from '../support/server.js';
import { CART, MINUTE, NAME, newWorld, type PayOptions, pay, rest, SECOND, test, URL_, watched } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };
const SLOW = delayed(20 * SECOND, charged(answers(201)));

/** At 40 s the lock is free; `two` has sent at 30 s. */
async function scene(script: readonly Entry[], options: PayOptions = {}, client: OnceOptions = {}) {
  const world = newWorld();
  const [one, two] = [world.open(client), world.open(client)];
  const [first] = await world.begin(pay(one.once, { ...options, limits: { attempts: 1, attemptMs: 40 * SECOND } }), hangs(), ...script);
  const driven = pay(two.once, options);
  await world.end(one.tab, first);
  expect(world.server.arrivals).toHaveLength(2);
  return { world, one, two, driven };
}

describe('beside a tab that drives without the lock', () => {
  test('a log-out stops its driver before the next attempt, and nobody can settle the operation while an attempt is under way', async () => {
    const { world, one, two, driven } = await scene([delayed(20 * SECOND, lost())]);
    await world.run(clear(one.once));
    await world.refusesNone(one.once);
    expect(await world.end(two.tab, driven)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
    expect(world.server.arrivals).toHaveLength(2);
    // The first tab had lost its claim when it gave up, so it could not store that its attempt was over.
    await world.takesNone(one.once, 5 * SECOND);
  });

  test("an edited form with repeat: 'if-changed' waits, and is sent under a key of its own", async () => {
    const { world, one, two, driven } = await scene([SLOW, answers(201)], { repeat: 'if-changed' });
    expect(await world.end(one.tab, pay(one.once, { repeat: 'if-changed', body: EDITED }))).toMatchObject({ outcome: { type: 'fresh' } });
    expect(await world.end(two.tab, driven)).toMatchObject({ outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('a press for another URL waits, and is not sent', async () => {
    const { world, one, two, driven } = await scene([SLOW]);
    const elsewhere = pay(one.once, { url: 'https://other.example/pay' });
    expect(await world.end(one.tab, elsewhere)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    expect(await world.end(two.tab, driven)).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('resumeOne waits, and gives the end', async () => {
    const { world, one, two, driven } = await scene([SLOW]);
    expect(await world.end(one.tab, resumeOne(one.once, NAME))).toMatchObject({ outcome: { effect: 'done' } });
    expect(await world.end(two.tab, driven)).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('run waits, and its function does not run', async () => {
    const { world, one, two, driven } = await scene([SLOW]);
    const ran: unknown[] = [];
    await expect(world.run(watched(run(one.once, NAME, () => ran.push(1))))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    expect(ran).toEqual([]);
    expect(await world.end(two.tab, driven)).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('a log-in moves the operation, and the user goes on at once under its key', async () => {
    const { world, two, driven } = await scene([delayed(20 * SECOND, lost()), replays()], {}, { namespace: 'guest' });
    const ann = world.open({ namespace: 'ann' });
    await world.run(move(ann.once, 'guest'));
    expect(await world.end(ann.tab, pay(ann.once))).toMatchObject({ outcome: { type: 'replayed' }, ms: 0 });
    expect(await world.end(two.tab, driven)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

describe('the tab that drove without the lock', () => {
  test('is closed: it releases the lease, and the next press goes on at once', async () => {
    const { world, one, two, driven } = await scene([hangs(), replays()]);
    await world.run(close(two.once));
    expect(await world.end(two.tab, driven)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(await world.end(one.tab, pay(one.once))).toMatchObject({ outcome: { type: 'replayed' }, ms: 0 });
  });

  test('dies: the next press waits until the lease is over, and goes on under the key', async () => {
    const { world, one, two, driven } = await scene([hangs(), replays()]);
    driven.catch(() => {});
    two.tab.kill();
    const begun = world.clock.now();
    expect(await world.end(one.tab, pay(one.once))).toMatchObject({ outcome: { type: 'replayed' } });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(15 * SECOND);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('has a hook that throws: nothing more is sent, and the lease is released', async () => {
    let calls = 0;
    const headers = () => {
      calls++;
      if (calls > 2) throw new Error('no token');
      return {};
    };
    const { world, one, two, driven } = await scene([answers(503)], { headers, limits: { attempts: 2 } });
    await world.end(two.tab, driven);
    expect(world.record()?.lease).toBeUndefined();
    expect(await world.end(one.tab, pay(one.once), replays())).toMatchObject({ outcome: { type: 'replayed' } });
  });
});

describe('where the lock manager refuses every request, though the store works', () => {
  const scene = () => {
    const world = newWorld();
    const tabs = [world.tab(), world.tab()] as const;
    for (const { platform } of tabs) Object.assign(platform, { locks: { acquire: async () => Promise.reject(new DOMException('refused', 'SecurityError')) } });
    return { world, tabs, clients: [tabs[0].once(), tabs[1].once()] as const };
  };

  test('nobody can settle an operation in another tab while its attempt is under way', async () => {
    const { world, tabs, clients } = scene();
    const [driven] = await world.begin(pay(clients[0]), SLOW);
    await expect(world.run(watched(settle(clients[1], NAME, 'none')))).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    expect(await world.end(tabs[0], driven)).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('the same press in another tab waits, and is told the end', async () => {
    const { world, tabs, clients } = scene();
    world.server.plays(SLOW);
    const presses = clients.map((once) => pay(once)) as [Promise<Response>, Promise<Response>];
    expect((await world.end(tabs[0], presses[0])).outcome).toMatchObject({ effect: 'done' });
    expect((await world.end(tabs[1], presses[1])).outcome).toMatchObject({ effect: 'done', attempts: 0 });
  });

  test('an equal call without a name in another tab does not share the lost call that this one takes up', async () => {
    const { world, tabs } = scene();
    const [one, two] = tabs.map((tab) => tab.once({ fetch: tab.fetch })) as [Once, Once];
    const post = (once: Once, attempts = 2) => watched(once.fetch(URL_, { method: 'POST', body: '{}', once: { limits: { attempts } } }));
    await world.end(tabs[0], post(one, 1), lost());
    const [first] = await world.begin(post(one), SLOW, answers(201));
    expect((await world.end(tabs[1], post(two))).outcome).toMatchObject({ type: 'fresh', resumed: false });
    expect((await world.end(tabs[0], first)).outcome).toMatchObject({ effect: 'done', resumed: true });
    expect(new Set(world.server.keys).size).toBe(2);
  });
});

describe('where the lock manager never answers', () => {
  const BUSY = { code: 'ERR_ONCE_BUSY' };

  test.each([
    ['settle', 'ann', (once: Once) => settle(once, NAME, 'done'), BUSY],
    ['forget', 'ann', (once: Once) => forget(once, NAME, { evenIfUnknown: true }), BUSY],
    ['move', 'guest', (once: Once) => move(once, 'guest'), undefined],
    ['pending', 'ann', (once: Once) => pending(once), [{ name: NAME, inFlight: false }]],
  ])('%s ends in time, and a lock that comes late is released', async (_, namespace, act: (once: Once) => Promise<unknown>, end) => {
    const { world, tab, once } = newWorld().open({ namespace });
    const { outcome } = await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
    const { locks } = tab.platform;
    const late: (() => void)[] = [];
    let releases = 0;
    const acquire = () => new Promise<() => void>((resolve) => late.push(() => resolve(() => void releases++)));
    Object.assign(tab.platform, { locks: { acquire, query: () => new Promise(() => {}) } });
    const [acted] = await world.begin(watched(act(tab.once({ namespace: 'ann' }))).catch((error) => error));
    Object.assign(tab.platform, { locks });
    const since = world.clock.now();
    const ended = await world.run(acted);
    if (end) expect(ended).toMatchObject(end);
    expect(world.clock.now() - since).toBeLessThan(MINUTE);
    for (const comes of late) comes();
    await rest();
    expect(releases).toBe(late.length);
    await world.clock.advance(MINUTE);
    const again = world.clock.now();
    expect((await world.end(tab, pay(tab.once({ namespace: 'ann' })), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
    expect(world.clock.now() - again).toBeLessThan(SECOND);
  });

  const endless = () => new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(100)) });

  test.for<[string, PayOptions]>([
    ['is aborted', {}],
    ['has a body that cannot be read', { init: { body: endless(), duplex: 'half' } as RequestInit, limits: { bodyBytes: 1000 } }],
  ])('a call that %s meanwhile does not say that nothing was sent: another page may hold the lock', async ([_, more], { world, tab }) => {
    Object.assign(tab.platform, { locks: { acquire: () => new Promise(() => {}) } });
    const controller = new AbortController();
    const [call] = await world.begin(pay(tab.once(), { ...more, signal: controller.signal }));
    controller.abort(new Error('cancelled'));
    const { error } = await world.end(tab, call);
    await world.clock.advance(MINUTE);
    expect(tab.outcomeOf(error)).toMatchObject({ effect: 'unknown' });
  });
});
