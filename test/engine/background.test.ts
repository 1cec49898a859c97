/**
 * Goal: an operation that the customer agreed to goes on without the page, under its key, until its time, and for its user; no
 * other operation does. Method: a page that dies, and a worker in the same world that calls `resumeInBackground` at every awkward
 * moment.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { background, clear, type InBackground, move, type OnceOptions, pending, resumeInBackground, subscribe } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { Locks } from '../../src/ports.js';
import { type Arrival, answers, charged, delayed, during, lost, replays, textOf } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { says } from '../support/texts.js';
import { MINUTE, NAME, newWorld, ONE, onScreen, type Page, type PayOptions, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const CONSENT = { until: expect.any(Number), alone: true };

/** A page of Ann, and a worker that shares store and locks with it. */
function scene(options: OnceOptions = {}) {
  const world = newWorld();
  const who: { user: string | undefined } = { user: 'ann' };
  const all: OnceOptions = { namespace: () => who.user, ...options };
  const page = world.open(all);
  const worker = world.open(all, { name: 'worker' });
  const inMs = (ms: number) => ({ background: { untilMs: world.clock.now() + ms } });
  /** The page pays, loses its only answer after the effect, and dies. */
  const die = async (more: PayOptions = {}) => {
    const { outcome } = await world.end(page.tab, pay(page.once, { ...inMs(10 * MINUTE), ...ONE, ...more }), charged(lost()));
    expect(outcome).toMatchObject({ effect: 'unknown' });
    page.tab.kill();
    return outcome?.key;
  };
  const goOn = (signal?: AbortSignal) => world.run(inBackground(worker.once, signal));
  return { world, who, all, page, worker, inMs, die, goOn };
}

/** Calls `resumeInBackground`. Gives its result, and the outcomes that were told meanwhile. */
async function inBackground(once: Once, signal?: AbortSignal): Promise<InBackground & { readonly resumed: readonly object[] }> {
  const resumed: object[] = [];
  const stop = subscribe(once, (event) => 'outcome' in event && resumed.push({ name: event.operation, outcome: event.outcome }));
  const { open } = await resumeInBackground(once, { signal });
  stop();
  return { resumed, open };
}

const NOTHING = { resumed: [], open: 0 };

describe('the option', () => {
  test('is refused without its feature, and the error names the import; nothing is stored or sent', async () => {
    const { world, page, inMs } = scene({ use: [] });
    const { error } = await world.end(page.tab, pay(page.once, inMs(MINUTE)));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/background\(\)/);
    expect(world.records).toEqual([]);
  });

  test.each<[string, OnceOptions, (untilMs: number) => Parameters<typeof pay>[1], RegExp]>([
    [
      'a length in place of a time',
      {},
      () => ({ background: { untilMs: 600_000 } }),
      says(/untilMs must be a time in ms since 1970, got 600000/, /untilMs: wall-time, got 600000/),
    ],
    ['no namespace', { namespace: 'x' }, (untilMs) => ({ background: { untilMs } }), says(/needs the option namespace/, /no-namespace/)],
    [
      'a body that cannot be stored',
      {},
      (untilMs) => ({ background: { untilMs }, init: { body: new Blob(['x']) } }),
      says(/cannot store this body/, /no-request/),
    ],
    [
      'a word in place of a time',
      {},
      () => ({ background: { untilMs: 'soon' as never } }),
      says(/once\.background\.untilMs must be a number, got string/, /once\.background\.untilMs: wall-time, got soon/),
    ],
    [
      'an unknown member',
      {},
      () => ({ background: { forMs: 5 } as never }),
      says(/there is no option once\.background\.forMs/, /untilMs: wall-time, got undefined/),
    ],
  ])('with %s is refused; nothing is stored or sent', async (what, options, call, message) => {
    const { world, page } = scene(options);
    const once = what === 'no namespace' ? page.tab.once() : page.once;
    const { error } = await world.end(page.tab, pay(once, call(world.clock.now() + MINUTE)));
    expect(String(error)).toMatch(message);
    expect(world.records).toEqual([]);
  });

  test('needs a name', async () => {
    const { world, page, inMs } = scene();
    const call = watched(page.once.fetch('https://shop.example/x', { method: 'POST', body: '1', once: inMs(MINUTE) }));
    expect(String((await world.end(page.tab, call)).error)).toMatch(says(/once\.background needs a name/, /once\.background: no-name/));
    expect(world.records).toEqual([]);
  });

  test('gives no consent if its time is over already', async () => {
    const { world, page, inMs } = scene();
    await world.end(page.tab, pay(page.once, { ...inMs(-1), ...ONE }), lost());
    expect(world.record()?.request).toBeUndefined();
  });

  test('leaves nothing in the record when the operation has ended', async () => {
    const { world, page, inMs } = scene();
    await world.end(page.tab, pay(page.once, inMs(MINUTE)), answers(201));
    expect(JSON.stringify(world.record())).not.toMatch(/consent|amount/);
  });
});

describe('the operation of a page that died', () => {
  test('goes on under its key and with its bytes; then nothing is left to do', async () => {
    const { world, die, goOn } = scene();
    const key = await die();
    world.server.plays(replays());
    expect(await goOn()).toMatchObject({ resumed: [{ name: NAME, outcome: { type: 'replayed', key } }], open: 0 });
    const [first, second] = world.server.arrivals;
    expect(second).toMatchObject({ from: 'worker', key: first?.key, body: first?.body });
    expect(await goOn()).toEqual(NOTHING);
  });

  test('is left alone without a consent, even if its request is stored', async () => {
    const { world, die, goOn, all } = scene({ keep: { request: true } });
    await die({ background: undefined });
    expect(await goOn()).toEqual(NOTHING);
    expect(await world.run(pending(world.tab().once(all)))).toMatchObject([{ name: NAME, resumable: true }]);
  });

  test('can no longer be resumed once its consent is over; the client that finds this out shows it on its screens', async () => {
    const { world, die, goOn, worker } = scene();
    await die();
    const screen = onScreen(worker.once);
    await world.run(rest());
    expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { resumable: true } });
    await world.clock.advance(11 * MINUTE);
    expect(await goOn()).toEqual(NOTHING);
    await world.run(rest());
    expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { resumable: false } });
  });

  test('stays open while the server cannot tell, and goes on later', async () => {
    const { world, die, goOn } = scene(ONE);
    await die();
    world.server.plays(answers(503), replays());
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { effect: 'unknown' } }], open: 1 });
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { effect: 'done' } }], open: 0 });
  });

  test('stays open offline, and nothing is sent', async () => {
    const { worker, die, goOn } = scene();
    await die();
    worker.tab.online = false;
    expect(await goOn()).toEqual({ resumed: [], open: 1 });
  });

  test('gets its first attempt from the worker if the page had sent nothing', async () => {
    const { world, page, goOn, inMs } = scene();
    page.tab.online = false;
    await world.begin(watched(pay(page.once, inMs(MINUTE))));
    page.tab.kill();
    expect(world.record()).toMatchObject({ ambiguous: false, request: { consent: CONSENT } });
    world.server.plays(answers(201));
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { type: 'fresh' } }], open: 0 });
  });
});

describe('the end of a consent', () => {
  test('stops the operation: nothing is sent, the request stored for the consent alone is removed, and the key stays for the next call', async () => {
    const { world, die, goOn, all } = scene();
    const key = await die();
    await world.clock.advance(10 * MINUTE);
    expect(await goOn()).toEqual(NOTHING);
    expect(world.record()).toMatchObject({ state: 'pending', key });
    expect(world.record()?.request).toBeUndefined();
    const next = world.open(all);
    expect((await world.end(next.tab, pay(next.once), replays())).outcome).toMatchObject({ type: 'replayed', key });
  });

  test('does not remove a request that the app keeps anyway', async () => {
    const { world, die, goOn } = scene({ keep: { request: true } });
    await die();
    await world.clock.advance(10 * MINUTE);
    expect(await goOn()).toEqual(NOTHING);
    expect(world.record()?.request).toMatchObject({ method: 'POST', consent: undefined });
  });

  test('counts between attempts, too: none is sent after it', async () => {
    const { world, die, goOn, inMs } = scene({ limits: { attempts: 1000 } });
    const until = inMs(20 * SECOND);
    await die(until);
    world.server.otherwise = answers(503);
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { effect: 'unknown' } }], open: 1 });
    const late = world.server.arrivals.filter(({ at }) => at >= until.background.untilMs);
    expect(late).toEqual([]);
    expect(world.server.arrivals.length).toBeGreaterThan(2);
  });

  test('is covered by the sum of the record: if a fault has changed it, nothing is sent', async () => {
    const { world, die, goOn } = scene();
    await die();
    world.damage(({ request, ...record }) => ({ ...record, request: { ...request, consent: { until: Number.MAX_SAFE_INTEGER, alone: true } } }) as OnceRecord);
    expect(await goOn()).toEqual(NOTHING);
  });
});

describe('the user of the operation', () => {
  test('is not logged in, or another user is: nothing is sent; when the user is back, it goes on', async () => {
    const { world, who, die, goOn } = scene();
    await die();
    for (const user of [undefined, 'bob']) {
      who.user = user;
      expect(await goOn()).toEqual(NOTHING);
    }
    who.user = 'ann';
    world.server.plays(replays());
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { effect: 'done' } }] });
  });

  test('changes between two attempts: no other attempt leaves', async () => {
    const { world, who, die, goOn } = scene();
    await die();
    world.server.plays(during(() => void (who.user = 'bob'), answers(503)));
    await goOn();
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('logs out: the consent is withdrawn, and the key stays', async () => {
    const { world, die, goOn, worker } = scene();
    const key = await die();
    await world.run(clear(worker.once));
    expect(await goOn()).toEqual(NOTHING);
    expect(world.record()).toMatchObject({ state: 'pending', key });
  });

  test('ends with the key of a guest that counts for the account of the guest alone: no start of a worker tells of it again', async () => {
    const { world, who, die, goOn, worker } = scene({ dialect: undefined });
    who.user = 'guest';
    await die();
    who.user = 'ann';
    await world.run(move(worker.once, 'guest'));
    expect(await goOn()).toEqual(NOTHING);
    expect(JSON.stringify(world.records)).not.toMatch(/consent|amount/);
    expect(await world.run(pending(worker.once))).toMatchObject([{ name: NAME, resumable: false }]);
  });

  test('was a guest and has logged in: the operation goes on as an operation of the user', async () => {
    const { world, who, die, goOn, worker } = scene();
    who.user = 'guest';
    const key = await die();
    who.user = 'ann';
    await world.run(move(worker.once, 'guest'));
    world.server.plays(replays());
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { key } }], open: 0 });
  });
});

describe('a page that drives the operation', () => {
  /** The worker begins while the page's answer is on its way. */
  async function both(act: (world: World, page: { tab: Tab; once: Once }) => unknown = () => {}, answer = answers(201)) {
    const { world, page, inMs, worker } = scene();
    const [call] = await world.begin(watched(pay(page.once, { ...inMs(10 * MINUTE), ...ONE })), delayed(20 * SECOND, answer));
    const [asked] = await world.begin(inBackground(worker.once));
    await act(world, page);
    return { world, call, page, told: await world.run(asked) };
  }

  test('is waited for: nothing is sent', async () => {
    const { world, call, page, told } = await both();
    expect(told).toEqual(NOTHING);
    expect((await world.end(page.tab, call)).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('dies: the worker goes on at once', async () => {
    const { world, told } = await both((world, { tab }) => {
      tab.kill();
      world.server.plays(replays());
    });
    expect(told).toMatchObject({ resumed: [{ outcome: { type: 'replayed' } }] });
    expect(world.server.arrivals).toMatchObject([{}, { from: 'worker' }]);
    expect((world.server.gaps[0] ?? 0) < SECOND).toBe(true);
  });

  test('hangs: the worker gives up and sends nothing, and the operation stays open', async () => {
    const { world, told } = await both((_, { tab }) => tab.freeze());
    expect(told).toEqual({ resumed: [], open: 1 });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('dies while the button is pressed in the context that waits: that call sends at once, and nothing is left for the worker', async () => {
    const { world, page, inMs, worker, all } = scene();
    await world.begin(watched(pay(page.once, { ...inMs(10 * MINUTE), ...ONE })), delayed(20 * SECOND, answers(201)));
    const [asked] = await world.begin(inBackground(worker.once));
    const [pressed] = await world.begin(watched(pay(worker.tab.once(all))));
    page.tab.kill();
    expect((await world.end(worker.tab, pressed, replays())).outcome).toMatchObject({ type: 'replayed' });
    expect(await world.run(asked)).toEqual(NOTHING);
    expect(world.server.gaps[0]).toBeLessThan(SECOND);
  });

  test('is logged out while the worker waits: nothing is sent', async () => {
    const { world, told } = await both((world, { once }) => world.run(clear(once)), charged(lost()));
    expect(told).toEqual(NOTHING);
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('a second call of the name', () => {
  const again = async (more: PayOptions) => {
    const { world, die, goOn, all, inMs } = scene();
    await die();
    const before = world.record()?.request?.consent;
    const next = world.open(all);
    await world.end(next.tab, pay(next.once, { ...ONE, ...more, ...(more.background && inMs(30 * MINUTE)) }), lost());
    next.tab.kill();
    return { world, goOn, before, after: world.record()?.request?.consent };
  };

  test('with the same payload leaves the consent as it is', async () => {
    const { before, after } = await again({});
    expect(after).toEqual(before);
  });

  test('with a later time renews it', async () => {
    const { before, after } = await again({ background: { untilMs: 0 } });
    expect(after?.until).toBeGreaterThan(before?.until ?? Number.POSITIVE_INFINITY);
  });

  test('with a consent to another payload, which the server refuses as reused: the earlier payload is not sent in its place', async () => {
    const { world, goOn, after } = await again({ body: { cart: 'c1', amount: 11 }, background: { untilMs: 0 } });
    expect(after).toEqual(CONSENT);
    world.server.plays(answers(422, { code: 'idempotency_key_reused' }));
    expect(await goOn()).toMatchObject({ resumed: [{ outcome: { effect: 'unknown' } }], open: 1 });
    expect(await textOf(world.server.arrivals.at(-1) as Arrival)).toContain('11');
  });

  test('with another payload, and no consent to that, ends the consent: nothing goes on', async () => {
    const { after, goOn } = await again({ body: { cart: 'c1', amount: 11 }, keep: { request: true } });
    expect(after).toBeUndefined();
    expect(await goOn()).toEqual(NOTHING);
  });
});

describe('resumeInBackground', () => {
  test('refuses a value that is not a client, and unknown options', async () => {
    const { page } = scene();
    await expect(resumeInBackground({} as never)).rejects.toThrow(TypeError);
    await expect(resumeInBackground(page.once, { prefix: ['pay'] } as never)).rejects.toThrow('there is no option resumeInBackground.prefix');
  });

  test('sends nothing more when its signal aborts, and tells how many operations are open', async () => {
    const { world, die, goOn } = scene();
    await die();
    const over = new AbortController();
    world.server.plays(during(() => over.abort(), answers(503)));
    expect(await goOn(over.signal)).toMatchObject({ open: 1 });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test.each<[string, Locks | undefined]>([
    ['without locks', undefined],
    ['where the lock manager refuses', { acquire: () => Promise.reject(new DOMException('refused', 'SecurityError')) }],
  ])('%s, two workers never both send: one lease, one key', async (_, locks) => {
    const world = newWorld();
    const all: OnceOptions = { namespace: 'ann', use: [background()] };
    const opened = (): Page => {
      const tab = world.tab();
      Object.assign(tab.platform, { locks });
      return { tab, once: tab.once(all) };
    };
    const [page, one, two] = [opened(), opened(), opened()];
    await world.end(page.tab, pay(page.once, { ...ONE, background: { untilMs: world.clock.now() + MINUTE } }), charged(lost()), delayed(SECOND, replays()));
    page.tab.kill();
    const [first, second] = await world.run(Promise.all([resumeInBackground(one.once), resumeInBackground(two.once)]));
    expect([first.open, second.open]).toEqual([0, 0]);
    expect(new Set(world.server.keys).size).toBe(1);
    expect(world.server.arrivals).toHaveLength(2);
  });
});
