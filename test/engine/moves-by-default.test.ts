/**
 * Goal: if nobody has said for whom the server's keys count, nothing is sent for a guest's operation that may have taken effect, whatever the user who
 * logged in does next; and it can still be settled. Method: the guest's answer is lost, `move`, then one feature after the other. The scripted server
 * would charge for every key that it has not seen in the account.
 */
import { describe, expect } from 'vitest';
import { generic } from '../../src/dialects/generic.js';
import { clear, move, type Once, type OnceOptions, outcomeOf, pending, resumeOne, run, settle } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, during, type Entry, lost } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { CART, DAY, HOUR, MINUTE, NAME, ONE, pay, resumed, SECOND, test, URL_, type World, watched } from '../support/world.js';

interface Moved {
  readonly world: World;
  readonly tab: Tab;
  readonly ann: Once;
  readonly options: OnceOptions;
}

/** A guest whose answer was lost has logged in as ann, and their operation was moved. */
async function moved(world: World, more: OnceOptions = {}, guestPays: (guest: Once) => Promise<Response> = pay): Promise<Moved> {
  const options = { ...ONE, dialect: undefined, keep: { request: true }, ...more };
  const tab = world.tab();
  await world.end(tab, guestPays(tab.once({ ...options, namespace: 'guest' })), charged(lost()));
  const ann = tab.once({ ...options, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  return { world, tab, ann, options };
}

const EXPIRED = { outcome: { effect: 'unknown', reason: 'key-expired', attempts: 0 } };

describe('nothing is sent by', () => {
  test.for<[string, OnceOptions, (scene: Moved) => Promise<unknown>]>([
    ['a press', {}, ({ ann }) => pay(ann)],
    ['a press of an edited form', {}, ({ ann }) => pay(ann, { body: { ...CART, amount: 11 } })],
    ["an edited form with repeat: 'if-changed'", { repeat: 'if-changed' }, ({ ann }) => pay(ann, { body: { ...CART, amount: 11 } })],
    ["a press with repeat: 'always'", { repeat: 'always' }, ({ ann }) => pay(ann)],
    ['a press in a second tab', {}, ({ world, options }) => pay(world.tab().once({ ...options, namespace: 'ann' }))],
    ['a press after a reload', {}, ({ tab, options }) => pay(tab.reload().once({ ...options, namespace: 'ann' }))],
    ['resumeOne', {}, ({ ann }) => watched(resumeOne(ann, NAME))],
  ])('%s', async ([, more, next], { world }) => {
    const scene = await moved(world, more);
    const [ended] = await world.run(Promise.allSettled([next(scene)]));
    expect(ended).toMatchObject({ status: 'rejected', reason: EXPIRED });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('a press at another origin', async ({ world }) => {
    const { tab, ann } = await moved(world);
    expect(await world.end(tab, pay(ann, { url: URL_.replace('shop.', 'eu.shop.') }))).toMatchObject({ outcome: { effect: 'unknown', attempts: 0 } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('resume, which reports it', async ({ world }) => {
    const { ann } = await moved(world);
    expect(await world.run(resumed(ann))).toMatchObject([{ name: NAME, ...EXPIRED }]);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('a press after a log-out and a second log-in', async ({ world }) => {
    const { tab, ann } = await moved(world);
    await world.run(clear(ann));
    expect(await world.end(tab, pay(ann))).toMatchObject(EXPIRED);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('an equal call without a name', async ({ world }) => {
    const unnamed = (once: Once) => watched(once.fetch(URL_, { method: 'POST', body: JSON.stringify(CART), once: ONE }));
    const { tab, ann } = await moved(world, {}, unnamed);
    expect(await world.end(tab, unnamed(ann))).toMatchObject({ outcome: { effect: 'unknown', attempts: 0 } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('nothing is sent by an equal call without a name if the guest logged in while the attempt was on its way', () => {
  const unnamed = (once: Once) => watched(once.fetch(URL_, { method: 'POST', body: JSON.stringify(CART), once: ONE }));

  test.for<[string, TabOptions]>([
    ['with locks', {}],
    ['without locks', { locks: false }],
  ])('%s', async ([, of], { world }) => {
    const tab = world.tab(of);
    let who = 'guest';
    const once = tab.once({ dialect: undefined, namespace: () => who });
    world.server.plays(delayed(5 * SECOND, charged(lost())));
    const first = unnamed(once);
    await world.clock.advance(SECOND);
    who = 'ann';
    await world.run(move(once, 'guest'));
    expect((await world.end(tab, first)).outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    expect((await world.end(tab, unnamed(once))).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
    await world.clock.advance(MINUTE);
    expect(await world.end(tab, unnamed(once))).toMatchObject(EXPIRED);
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test.for([
  ["the device's clock", 0],
  ["the store's clock alone", 10 * MINUTE],
  ["the store's clock alone, by a week", 7 * DAY],
] as const)('%s is set back after the move: nothing is sent', async ([, byMs], { world }) => {
  const of = { server: true, locks: false, claims: { ownClock: true } };
  const options = { ...ONE, dialect: undefined };
  const { tab, once: guest } = world.open({ ...options, namespace: 'guest' }, of);
  await world.end(tab, pay(guest), charged(lost()));
  const ann = tab.once({ ...options, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  if (byMs) world.clock.jump(-byMs);
  tab.skewMs = byMs || -HOUR;
  expect(await world.end(tab, pay(ann))).toMatchObject(EXPIRED);
  expect((await world.run(pending(ann)))[0]?.expiresAt).toBeLessThan(world.clock.now() + tab.skewMs);
  expect(world.server.arrivals).toHaveLength(1);
});

describe("what is done under a guest's key, which counts for one account, is not asked for in the user's account", () => {
  const options = { ...ONE, dialect: { ...generic(), replays: true }, repeat: 'if-changed' } as const;
  const EDITED = { body: { ...CART, amount: 11 } };

  test.for<[string, Entry | 'offline', boolean]>([
    ['may have been sent, and the app says none', lost(), true],
    ['was refused, and its key stays in use', answers(400, { code: 'bad_card' }), false],
    ['was never sent', 'offline', false],
  ])('if the edited form after it %s', async ([, meets, byHand], { world }) => {
    const first = world.tab({ resends: true });
    const press = (page: Tab, of = {}) => pay(page.once({ ...options, namespace: 'guest' }), of);
    await world.end(first, press(first), answers(201));
    if (meets !== 'offline') await world.end(first, press(first, EDITED), meets);
    const tab = meets === 'offline' ? await pressOffline(first, (page) => press(page, EDITED)) : first.reload();
    const ann = tab.once({ ...options, namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    await world.clock.advance(10 * MINUTE);
    if (byHand) await world.run(settle(ann, NAME, 'none'));
    const before = world.server.arrivals.length;
    expect(await world.end(tab, pay(ann))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(before);
  });

  test('if only this page knows that it is done, because the store did not take the end and has lost the record since', async ({ world, tab }) => {
    const guest = tab.once({ ...options, namespace: 'guest' });
    world.server.plays(during(() => tab.faults.rate('fail-before-commit', 1), answers(201)));
    expect((await world.end(tab, pay(guest))).outcome).toMatchObject({ type: 'fresh' });
    tab.faults.clear();
    const ann = tab.once({ ...options, namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    world.damage(() => null);
    expect(await world.end(tab, pay(ann))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test('a guest who logs in, logs out, pays again and logs in once more: both payments are kept, one after the other', async ({ world, tab }) => {
  let who = 'guest';
  const once = tab.once({ ...ONE, dialect: undefined, namespace: () => who });
  const logsIn = async () => {
    who = 'ann';
    await world.run(move(once, 'guest'));
  };
  await world.end(tab, pay(once), charged(lost()));
  await logsIn();
  await world.run(clear(once));
  who = 'guest';
  await world.end(tab, pay(once), charged(lost()));
  // The second one stays with the guest, and the client says so (`move-conflict`), until the first one is settled and `move` is called again.
  const [first, second] = world.server.keys;
  await logsIn();
  for (const key of [first, second]) {
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { ...EXPIRED.outcome, key } });
    await world.run(settle(once, NAME, 'none'));
    await world.run(move(once, 'guest'));
  }
  expect(await world.run(pending(once))).toEqual([]);
  expect(world.server.arrivals).toHaveLength(2);
});

test('the function of a run is not called again', async ({ world, tab }) => {
  const calls: string[] = [];
  const charge = (by: string) => () => {
    calls.push(by);
    throw new Error('the answer is lost');
  };
  const options = { ...ONE, dialect: undefined };
  await world.run(run(tab.once({ ...options, namespace: 'guest' }), NAME, charge('guest')).catch(() => {}));
  const ann = tab.once({ ...options, namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  const error: unknown = await world.run(run(ann, NAME, charge('ann')).catch((reason: unknown) => reason));
  expect([calls, outcomeOf(error)]).toMatchObject([['guest'], { effect: 'unknown', reason: 'key-expired' }]);
});

describe('what the app knows still settles it', () => {
  test("settle as 'done'", async ({ world }) => {
    const { tab, ann } = await moved(world);
    await world.run(settle(ann, NAME, 'done'));
    expect(await world.end(tab, pay(ann))).toMatchObject({ outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test("settle as 'none', after which the user's press is a new operation", async ({ world }) => {
    const { tab, ann } = await moved(world);
    // Until then, the guest's attempt may still arrive.
    await world.clock.advance(10 * MINUTE);
    await world.run(settle(ann, NAME, 'none'));
    expect(await world.run(pending(ann))).toEqual([]);
    await world.end(tab, pay(ann), lost());
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test.for<[string, NonNullable<OnceOptions['reconcile']>, object]>([
    ['says done', async () => 'done', { outcome: { effect: 'done', type: 'replayed' } }],
    ['throws', () => Promise.reject(new Error('down')), EXPIRED],
  ])('a `reconcile` that %s', async ([, reconcile, expected], { world }) => {
    const { tab, ann } = await moved(world, { reconcile });
    expect(await world.end(tab, pay(ann))).toMatchObject(expected);
    expect(world.server.arrivals).toHaveLength(1);
  });
});
