/**
 * Goal: processes that share no lock manager exclude one another by a lease in the record. It saves work, it never blocks, and
 * safety never rests on it. Method: several servers on one store, which die, freeze and have wrong clocks.
 */
import { describe, expect } from 'vitest';
import { forget, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { Store } from '../../src/ports.js';
import { StoreFault } from '../../src/stores/fault.js';
import { answers, charged, delayed, during, type Entry, hangs, honest, lost, replays } from '../support/server.js';
import { test as inWorld, MINUTE, NAME, ONE, type Page, pay, resumed, SECOND, type World, watched } from '../support/world.js';

const PROCESS = { server: true, locks: false } as const;
const test = inWorld
  .extend('one', ({ world }) => world.open({ namespace: 'shop' }, PROCESS))
  .extend('two', ({ world }) => world.open({ namespace: 'shop' }, PROCESS));

/** The process dies while its request, which has charged, is on the wire. */
async function diesAtWork(world: World, { tab, once }: Page): Promise<void> {
  await world.dies({ tab, once }, {}, charged(hangs()), replays());
}

test('a process has one name in all its leases: under another name it could not renew those that it has', async ({ world, one }) => {
  world.server.otherwise = charged(hangs());
  const names = [NAME, ['book', 1], ['vote', 1]];
  for (const operation of names) await world.begin(pay(one.once, { operation } as object));
  const owners = names.map((name) => world.record(name)?.lease?.owner);
  expect(new Set(owners).size).toBe(1);
  expect(owners[0]).toBeTypeOf('string');
});

describe('a second process', () => {
  test('waits for the first one, gets its outcome, and sends nothing', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(201)));
    const second = pay(two.once);
    expect(await world.end(one.tab, first)).toMatchObject({ status: 201 });
    expect(await world.end(two.tab, second)).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'store', attempts: 0 } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('goes on with the same key when the first one is dead, but not before its lease has run out', async ({ world, one, two }) => {
    await diesAtWork(world, one);
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.gaps[0]).toBeGreaterThan(5 * SECOND);
    expect(world.server.gaps[0]).toBeLessThan(MINUTE);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('waits as long as the leaseMs of the first one, whatever its own is', async ({ world }) => {
    const [one, two] = [
      world.open({ namespace: 'shop', limits: { leaseMs: 3 * SECOND } }, PROCESS),
      world.open({ namespace: 'shop', limits: { leaseMs: MINUTE } }, PROCESS),
    ];
    await diesAtWork(world, one);
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.gaps[0]).toBeGreaterThan(SECOND);
    expect(world.server.gaps[0]).toBeLessThan(5 * SECOND);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('does not take over a lease that is renewed, however long the work takes', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once, { limits: { attemptMs: 100 * SECOND } }), delayed(80 * SECOND, answers(201)));
    const second = pay(two.once, { limits: { attemptMs: 100 * SECOND } });
    expect(await world.end(one.tab, first)).toMatchObject({ status: 201 });
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test.for([MINUTE, -MINUTE, 365 * 24 * 60 * MINUTE])(
    'A32: whose clock is wrong by %i ms does not take over a live lease',
    async (skewMs, { world, one, two }) => {
      two.tab.skewMs = skewMs;
      const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(201)));
      const second = pay(two.once);
      await world.end(one.tab, first);
      expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'replayed', from: 'store', attempts: 0 });
      expect(world.server.arrivals).toHaveLength(1);
    },
  );
});

describe("the store's clock is set back by four minutes", () => {
  test('after a process died: its lease holds four minutes longer, and nothing is sent meanwhile; then the next press goes on with the key', async ({
    world,
    one,
    two,
  }) => {
    await diesAtWork(world, one);
    world.clock.jump(-4 * MINUTE);
    expect(await world.end(two.tab, pay(two.once))).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
    await world.clock.advance(2 * MINUTE + 20 * SECOND);
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed', resumed: true });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('while a process works, which dies after that: the lease, renewed by the new time, holds no longer than any other', async ({ world, one, two }) => {
    await world.begin(pay(one.once), charged(hangs()));
    world.clock.jump(-4 * MINUTE);
    await world.clock.advance(6 * SECOND);
    const { until = 0 } = world.record()?.lease ?? {};
    expect(until - world.clock.now()).toBeGreaterThan(0);
    expect(until - world.clock.now()).toBeLessThanOrEqual(15 * SECOND);
    one.tab.kill();
    expect((await world.end(two.tab, pay(two.once), replays())).outcome).toMatchObject({ type: 'replayed', resumed: true });
  });
});

describe('a lease that can hold nobody back', () => {
  test('was taken with a clock that was a month ahead for a moment, by a process that died: the next one goes on', async ({ world, one, two }) => {
    await diesAtWork(world, one);
    world.damage((record) => ({ ...record, lease: { owner: record.lease?.owner, until: world.clock.now() + 40 * 24 * 60 * MINUTE } }));
    const at = world.clock.now();
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed', resumed: true });
    expect(world.clock.now() - at).toBeLessThan(SECOND);
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

test('a process whose storage was cleared leaves alone the record that another process has begun since under the same key', async ({ world, one, two }) => {
  const key = { key: 'order-42' };
  const [first] = await world.begin(pay(one.once, key), delayed(5 * SECOND, lost()), charged(hangs()));
  world.empty();
  await world.begin(pay(two.once, key));
  expect(await world.end(one.tab, first)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', attempts: 1 } });
  expect(world.record()).toMatchObject({ state: 'pending', lease: {} });
  two.tab.kill();
});

describe('a process that froze beyond its lease', () => {
  test('stops before its next attempt if another process has taken over', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), charged(answers(503, '', { 'retry-after': '5' })), replays());
    one.tab.freeze();
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed' });
    one.tab.thaw();
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'replayed', from: 'store', effect: 'done' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('does not renew a lease that another process has by now', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once, { limits: { attemptMs: 110 * SECOND } }), delayed(90 * SECOND, answers(201)), charged(hangs()));
    one.tab.freeze();
    void pay(two.once);
    await world.clock.advance(20 * SECOND);
    two.tab.kill();
    one.tab.thaw();
    await world.clock.advance(MINUTE);
    const lease = (world.record() as { lease?: { until: number } } | undefined)?.lease;
    expect(lease === undefined || lease.until < world.clock.now()).toBe(true);
    await world.end(one.tab, first);
  });
});

test.for<[string, (once: Once) => Promise<void>]>([
  ['settle', (once) => settle(once, NAME, 'done')],
  ['forget', (once) => forget(once, NAME, { evenIfUnknown: true })],
])('forget and settle: %s is refused while the lease lives, and not after it has run out', async ([_, change], { world, one, two }) => {
  await world.dies(one, {}, charged(hangs()));
  await expect(world.run(change(two.once))).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await world.clock.advance(MINUTE);
  await world.run(change(two.once));
  expect(world.record()).not.toMatchObject({ state: 'pending' });
});

test('an operation whose process died is not settled as none while its attempt may be on its way, though a call of another process has ended since', async ({
  world,
  one,
  two,
}) => {
  await world.dies(one, {}, delayed(40 * SECOND, answers(201)), lost());
  await world.clock.advance(16 * SECOND);
  expect(await world.end(two.tab, pay(two.once, ONE))).toMatchObject({ outcome: { effect: 'unknown', resumed: true } });
  await world.refusesNone(two.once);
  await world.takesNone(two.once, 30 * SECOND);
});

test('a process that could not give its lease back does so at the end of its next call', async ({ world, one }) => {
  const failing = during(() => one.tab.faults.rate('fail-before-commit', 1), lost());
  await world.end(one.tab, pay(one.once, ONE), failing);
  one.tab.faults.clear();
  expect(world.record()?.lease).toBeDefined();
  await world.end(one.tab, pay(one.once, ONE), lost());
  expect(world.record()?.lease).toBeUndefined();
});

test('failing renewals may cost the lease, but never the key', async ({ world, one, two }) => {
  const [first] = await world.begin(pay(one.once), delayed(25 * SECOND, answers(201)), replays());
  one.tab.faults.rate('fail-before-commit', 1);
  await world.clock.advance(SECOND);
  const second = pay(two.once);
  await world.clock.advance(20 * SECOND);
  one.tab.faults.clear();
  expect(await world.end(one.tab, first)).toMatchObject({ status: 201 });
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a settled or unknown operation has no lease that would keep the next process waiting', async ({ world, one, two }) => {
  await world.end(one.tab, pay(one.once, ONE), charged(lost()));
  const at = world.clock.now();
  await world.end(two.tab, pay(two.once), replays());
  await world.end(two.tab, watched(pay(two.once, { operation: ['other'] })), answers(201));
  expect(world.clock.now()).toBe(at);
});

describe('a hidden tab without locks, whose timers fire once a minute, so that its lease runs out during its attempt', () => {
  const ANN = { namespace: 'ann', keep: { request: true } } as const;
  const DONE = { outcome: { effect: 'done' } };
  test.for<[string, (once: Once) => Promise<unknown>, meets: Entry]>([
    ['a press', (once) => pay(once), answers(201)],
    ['a press', (once) => pay(once), charged(lost())],
    ['a press', (once) => pay(once), answers(503)],
    ['resume', (once) => resumed(once), answers(201)],
    ['resume', (once) => resumed(once), charged(lost())],
    ['forget, which is refused', (once) => forget(once, NAME).catch(() => {}), charged(lost())],
  ])('%s in another tab sends the same key, and both are told what is true', async ([, act, meets], { world }) => {
    const [one, two] = [world.open(ANN, { locks: false }), world.open(ANN, { locks: false })];
    const { timer } = world.clock;
    one.tab.platform.clock.timer = (ms, fire) => timer(Math.max(ms, MINUTE - (world.clock.now() % MINUTE)), fire);
    world.server.plays(delayed(25 * SECOND, meets));
    const first = pay(one.once);
    await world.clock.advance(16 * SECOND);
    world.server.otherwise = honest();
    await world.run(act(two.once));
    expect(await world.end(one.tab, first)).toMatchObject(DONE);
    expect(await world.end(two.tab, pay(two.once))).toMatchObject(DONE);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('is not settled as none by another tab while its attempt may be on its way, but can be after that', async ({ world }) => {
    const [one, two] = [world.open(ANN, { locks: false }), world.open(ANN, { locks: false })];
    await world.begin(pay(one.once), delayed(25 * SECOND, lost()));
    one.tab.freeze();
    await world.clock.advance(16 * SECOND);
    await expect(settle(two.once, NAME, 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await world.clock.advance(30 * SECOND);
    await settle(two.once, NAME, 'none');
    expect(world.record()).toMatchObject({ state: 'retired' });
  });
});

test.for([PROCESS, {}])('a store that is full from the first attempt on does not stop the second one (%o)', async (of, { world }) => {
  const { tab } = world.open({}, of);
  let updates = 0;
  const full = (): Promise<never> => Promise.reject(new StoreFault('quota', 'full'));
  const store: Store = { ...tab.store, update: (...update) => (updates++ ? full() : tab.store.update(...update)) };
  expect((await world.end(tab, pay(tab.once({ store })), charged(lost()), replays())).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(1);
});
