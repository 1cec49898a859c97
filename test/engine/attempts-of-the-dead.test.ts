/**
 * Goal: nobody says "none" while the last attempt of a process or a page that died may still have its effect. Method: processes without a
 * common lock manager on one store, and pages with one; the first of them dies while its request is on the wire, and the server executes
 * that request later.
 */
import { describe, expect } from 'vitest';
import { clear, move, pending, resumeInBackground, resumeOne, settle } from '../../src/entries/index.js';
import { answers, delayed, hangs, lost, replays } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { LEAN } from '../support/texts.js';
import { HOUR, test as inWorld, MINUTE, NAME, ONE, type PayOptions, pay, SECOND, type World, watched } from '../support/world.js';

const PROCESS = { server: true, locks: false } as const;
const SHOP = { namespace: 'shop' } as const;
const LONG = { limits: { attemptMs: 100 * SECOND } } as const;
const test = inWorld.extend('two', ({ world }) => world.open(SHOP, PROCESS));

/** A process, or a page, dies during its attempt, which takes effect `ms` after it left. */
async function dies(world: World, ms: number, call: PayOptions, options: Parameters<World['open']>[0], context: TabOptions = PROCESS): Promise<void> {
  await world.dies(world.open({ ...SHOP, ...options }, context), call, delayed(ms, answers(201)));
}

describe.each([
  ['its call', LONG, {}],
  ['an earlier release', {}, LONG],
])('an attempt that %s gave more time than this client gives', (_, call, options) => {
  test('is not settled as none until that time is over', async ({ world, two }) => {
    await dies(world, 90 * SECOND, call, options);
    // The lease, and an attempt of this client.
    await world.refusesNone(two.once, 50 * SECOND);
    await world.takesNone(two.once, 66 * SECOND);
  });

  test('is not settled as none until then after a move either', async ({ world }) => {
    await dies(world, 90 * SECOND, call, options);
    await world.clock.advance(50 * SECOND);
    const { once } = world.open({ namespace: 'ann' }, PROCESS);
    await world.run(move(once, 'shop'));
    await world.refusesNone(once);
    await world.takesNone(once, 66 * SECOND);
  });

  test('is not settled as none until then after a call in the background has ended', async ({ world, two }) => {
    const agreed = { ...call, background: { untilMs: world.clock.now() + HOUR } };
    await dies(world, 90 * SECOND, agreed, options);
    await world.clock.advance(16 * SECOND);
    world.server.plays(lost());
    await world.run(resumeInBackground(world.open({ ...SHOP, ...ONE }, PROCESS).once));
    await world.refusesNone(two.once, 34 * SECOND);
    await world.takesNone(two.once, 66 * SECOND);
  });

  test('is not settled as none until then after a call of another process has ended', async ({ world, two }) => {
    await dies(world, 90 * SECOND, call, options);
    await world.clock.advance(16 * SECOND);
    expect(await world.end(two.tab, pay(two.once, ONE), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.refusesNone(two.once, 34 * SECOND);
    await world.takesNone(two.once, 66 * SECOND);
  });
});

describe('reconcile says none', () => {
  const asks = { ...SHOP, reconcile: async () => 'none' as const };

  test('while the attempt may still be on its way: it counts only after that', async ({ world }) => {
    await dies(world, 40 * SECOND, {}, {});
    await world.clock.advance(16 * SECOND);
    const { tab, once } = world.open(asks, PROCESS);
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.record()).toMatchObject({ state: 'pending' });
    await world.clock.advance(30 * SECOND);
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ outcome: { effect: 'none' } });
  });

  test('after it was asked while the attempt was on its way, and took long: it does not count', async ({ world }) => {
    await dies(world, 40 * SECOND, {}, {});
    await world.clock.advance(35 * SECOND);
    const late = () => new Promise<'none'>((resolve) => void world.clock.timer(15 * SECOND, () => resolve('none')));
    const { tab, once } = world.open({ ...SHOP, reconcile: late }, PROCESS);
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ outcome: { effect: 'unknown' } });
  });

  test('to a call that goes elsewhere: it begins no new operation', async ({ world }) => {
    await dies(world, 40 * SECOND, {}, {});
    await world.clock.advance(16 * SECOND);
    const { tab, once } = world.open(asks, PROCESS);
    const elsewhere = () => pay(once, { url: 'https://eu.shop.example/api/payments' });
    expect(await world.end(tab, elsewhere())).toMatchObject({ outcome: { effect: 'unknown', reason: 'elsewhere' } });
    await world.clock.advance(10 * SECOND);
    expect(await world.end(tab, elsewhere())).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.clock.advance(20 * SECOND);
    expect(world.server.keys).toHaveLength(1);
  });

  test('to a call that has made attempts: it keeps the key', async ({ world }) => {
    await dies(world, 40 * SECOND, {}, {});
    await world.clock.advance(16 * SECOND);
    const { tab, once } = world.open(asks, PROCESS);
    expect(await world.end(tab, watched(pay(once, ONE)), answers(422, { code: 'bad_card' }))).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.clock.advance(30 * SECOND);
    expect(await world.end(tab, watched(pay(once, ONE)), replays())).toMatchObject({ outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

test('pending does not show a call as under way if the store knows that its process is gone', async ({ world, two }) => {
  const { tab } = world.open(SHOP, PROCESS);
  const store = { ...tab.store, holder: async () => 'gone' };
  await world.begin(pay(tab.once({ ...SHOP, store })), delayed(40 * SECOND, answers(201)));
  const knowing = (isGone: boolean) => two.tab.once({ ...SHOP, store: { ...two.tab.store, isGone: async () => isGone } });
  expect(await world.run(pending(knowing(false)))).toMatchObject([{ inFlight: true }]);
  tab.kill();
  // No store of a page can tell, so its build does not ask.
  expect(await world.run(pending(knowing(true)))).toMatchObject([{ inFlight: LEAN }]);
  await world.clock.advance(40 * SECOND);
});

async function goesOnAndDies(world: World): Promise<void> {
  await world.dies(world.open(SHOP, PROCESS), ONE, hangs());
}

describe('a process that goes on with the attempts of one that died, which take longer than its own, and dies, too', () => {
  test('is not settled as none until the earlier attempts are over', async ({ world, two }) => {
    await dies(world, 90 * SECOND, LONG, {});
    await world.clock.advance(16 * SECOND);
    await goesOnAndDies(world);
    await world.refusesNone(two.once, 50 * SECOND);
    await world.takesNone(two.once, 50 * SECOND);
  });

  test('does not count a lease that was written with a clock that is days ahead', async ({ world, two }) => {
    await dies(world, 20 * SECOND, {}, {});
    world.damage((record) => ({ ...record, lease: { ...record.lease, until: world.clock.now() + 48 * HOUR } }));
    await goesOnAndDies(world);
    await world.takesNone(two.once, 46 * SECOND);
  });
});

describe('a page dies, and its lock with it', () => {
  const PAGE: TabOptions = {};
  const reconciles = { ...SHOP, reconcile: async () => 'none' as const };

  test('settle takes no none while its attempt may arrive, but takes done', async ({ world }) => {
    await dies(world, 40 * SECOND, {}, {}, PAGE);
    const { tab, once } = world.open(SHOP);
    await world.refusesNone(once);
    await world.refusesNone(once, 40 * SECOND);
    await world.run(settle(once, NAME, 'done'));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    expect(world.server.charged.size).toBe(1);
  });

  test('settle takes none afterwards', async ({ world }) => {
    await dies(world, 20 * SECOND, {}, {}, PAGE);
    await world.clock.advance(46 * SECOND);
    await world.takesNone(world.open(SHOP).once);
  });

  test('nor after a log-out, a log-in, or a press in another page that dies, too', async ({ world }) => {
    await dies(world, 20 * SECOND, {}, {}, PAGE);
    await world.run(clear(world.open(SHOP).once));
    await dies(world, 20 * SECOND, {}, {}, PAGE);
    await world.refusesNone(world.open(SHOP).once);
    const { once } = world.open({ namespace: 'ann' });
    await world.run(move(once, 'shop'));
    await world.refusesNone(once);
    await world.takesNone(once, 46 * SECOND);
  });

  test('the none of reconcile does not count meanwhile: the next press sends the same key', async ({ world }) => {
    await dies(world, 20 * SECOND, {}, {}, PAGE);
    const { tab, once } = world.open(reconciles);
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(await world.end(tab, pay(once), delayed(20 * SECOND, replays()))).toMatchObject({ outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
    expect(world.server.charged.size).toBe(1);
  });

  test('after three attempts: the last one counts', async ({ world }) => {
    const { tab, once } = world.open(SHOP);
    const LATE = delayed(20 * SECOND, lost());
    world.server.plays(LATE, LATE, delayed(29 * SECOND, answers(201)));
    void pay(once);
    await world.clock.advance(43 * SECOND);
    expect(world.server.arrivals).toHaveLength(3);
    tab.kill();
    await world.clock.advance(20 * SECOND);
    await world.refusesNone(world.open(SHOP).once);
    await world.clock.advance(10 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test('the next page sends at once, even if the clock was set back by minutes', async ({ world }) => {
    await dies(world, 20 * SECOND, {}, {}, PAGE);
    const { tab, once } = world.open(SHOP);
    tab.skewMs = -4 * MINUTE;
    expect(await world.end(tab, pay(once), delayed(20 * SECOND, replays()))).toMatchObject({ ms: 20 * SECOND });
  });

  test('nothing of it was sent, because the device was offline: settle takes none at once', async ({ world, tab }) => {
    tab.online = false;
    await world.begin(pay(tab.once(SHOP)));
    tab.kill();
    await world.takesNone(world.open(SHOP).once);
  });
});

test('a call in a page that ended as unknown can be settled as none at once, in any page', async ({ world }) => {
  const { tab, once } = world.open(SHOP);
  expect(await world.end(tab, pay(once, ONE), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
  await world.takesNone(world.open(SHOP).once);
});

test('a process takes no leases, because its store is its own: it leaves that of an earlier release which shared the store, until the attempt of that has ended', async ({
  world,
}) => {
  await dies(world, 20 * SECOND, {}, {}, { ...PROCESS, claims: { shared: 'cluster' } });
  await world.clock.advance(16 * SECOND);
  const { tab, once } = world.open(SHOP, { ...PROCESS, claims: { shared: 'context' } });
  expect((await world.end(tab, pay(once), answers(401))).outcome).toMatchObject({ effect: 'unknown' });
  await world.refusesNone(once);
  await world.takesNone(once, MINUTE);
});
