/**
 * Goal: nobody says "none" while the last attempt of a process that died may still have its effect. Method: processes without a common lock
 * manager on one store; the first one dies while its request is on the wire, and the server executes that request later.
 */
import { describe, expect } from 'vitest';
import { move, type Once, pending, resumeInBackground, resumeOne, settle } from '../../src/entries/index.js';
import { answers, delayed, lost, replays } from '../support/server.js';
import { LEAN } from '../support/texts.js';
import { HOUR, test as inWorld, NAME, ONE, pay, rest, SECOND, type World, watched } from '../support/world.js';

const PROCESS = { server: true, locks: false } as const;
const SHOP = { namespace: 'shop' } as const;
const LONG = { limits: { attemptMs: 100 * SECOND } } as const;
const BUSY = { code: 'ERR_ONCE_BUSY' };
const none = (once: Once) => watched(settle(once, NAME, 'none'));
const test = inWorld.extend('two', ({ world }) => world.open(SHOP, PROCESS));

/** A process dies during its attempt, which takes effect `ms` after it left. */
async function dies(world: World, ms: number, call: Parameters<typeof pay>[1], options: Parameters<World['open']>[0]): Promise<void> {
  const { tab, once } = world.open({ ...SHOP, ...options }, PROCESS);
  world.server.plays(delayed(ms, answers(201)));
  void pay(once, call);
  await rest();
  tab.kill();
}

describe.each([
  ['its call', LONG, {}],
  ['an earlier release', {}, LONG],
])('an attempt that %s gave more time than this client gives', (_, call, options) => {
  test('is not settled as none until that time is over', async ({ world, two }) => {
    await dies(world, 90 * SECOND, call, options);
    // The lease, and an attempt of this client.
    await world.clock.advance(50 * SECOND);
    await expect(world.run(none(two.once))).rejects.toMatchObject(BUSY);
    await world.clock.advance(66 * SECOND);
    await world.run(none(two.once));
  });

  test('is not settled as none until then after a move either', async ({ world }) => {
    await dies(world, 90 * SECOND, call, options);
    await world.clock.advance(50 * SECOND);
    const { once } = world.open({ namespace: 'ann' }, PROCESS);
    await world.run(move(once, 'shop'));
    await expect(world.run(none(once))).rejects.toMatchObject(BUSY);
    await world.clock.advance(66 * SECOND);
    await world.run(none(once));
  });

  test('is not settled as none until then after a call in the background has ended', async ({ world, two }) => {
    const agreed = { ...call, background: { untilMs: world.clock.now() + HOUR } };
    await dies(world, 90 * SECOND, agreed, options);
    await world.clock.advance(16 * SECOND);
    world.server.plays(lost());
    await world.run(resumeInBackground(world.open({ ...SHOP, ...ONE }, PROCESS).once));
    await world.clock.advance(34 * SECOND);
    await expect(world.run(none(two.once))).rejects.toMatchObject(BUSY);
    await world.clock.advance(66 * SECOND);
    await world.run(none(two.once));
  });

  test('is not settled as none until then after a call of another process has ended', async ({ world, two }) => {
    await dies(world, 90 * SECOND, call, options);
    await world.clock.advance(16 * SECOND);
    expect(await world.end(two.tab, pay(two.once, ONE), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.clock.advance(34 * SECOND);
    await expect(world.run(none(two.once))).rejects.toMatchObject(BUSY);
    await world.clock.advance(66 * SECOND);
    await world.run(none(two.once));
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
  world.server.plays(delayed(40 * SECOND, answers(201)));
  void pay(tab.once({ ...SHOP, store }));
  await rest();
  const knowing = (isGone: boolean) => two.tab.once({ ...SHOP, store: { ...two.tab.store, isGone: async () => isGone } });
  expect(await world.run(pending(knowing(false)))).toMatchObject([{ inFlight: true }]);
  tab.kill();
  // No store of a page can tell, so its build does not ask.
  expect(await world.run(pending(knowing(true)))).toMatchObject([{ inFlight: LEAN }]);
  await world.clock.advance(40 * SECOND);
});
