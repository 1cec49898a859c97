/**
 * Goal: whatever takes a record from its driver, nobody settles it by hand or forgets it while an attempt is on the wire. Method:
 * processes without shared locks, and pages with locks; one has a request on the wire, and another one logs out or moves.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { clear, forget, move, type Once, type OnceOptions, pending, settle } from '../../src/entries/index.js';
import { answers, charged, delayed, hangs, lost, replays } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { MINUTE, NAME, newWorld, ONE, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const PROCESS = { server: true, locks: false } as const;
const open = (world: World, options: OnceOptions = { namespace: 'shop' }, of: TabOptions = PROCESS) => world.open(options, of);
const SLOW = { limits: { attempts: 1, attemptMs: 100 * SECOND } } as const;

describe.each(['this process', 'another process'])('a log-out in %s while an attempt is on the wire', (where) => {
  function scene() {
    const world = newWorld();
    const driver = open(world);
    const other = open(world);
    return { world, driver, other, leaves: where === 'this process' ? driver : other };
  }

  test('leaves the operation busy for settle and forget, however long the attempt takes', async () => {
    const { world, driver, other, leaves } = scene();
    const [first] = await world.begin(pay(driver.once, SLOW), delayed(80 * SECOND, charged(answers(201))));
    await world.run(clear(leaves.once));
    for (const wait of [0, 20 * SECOND, 40 * SECOND]) {
      await world.clock.advance(wait);
      for (const { once } of [driver, other])
        for (const verb of [() => settle(once, NAME, 'none'), () => forget(once, NAME, { evenIfUnknown: true })])
          await expect(world.run(watched(verb())), `after ${wait} ms`).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    }
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'done' });
  });

  test('does not hold up the next call once the attempt is over', async () => {
    const { world, driver, other, leaves } = scene();
    const [first] = await world.begin(pay(driver.once, SLOW), delayed(5 * SECOND, charged(lost())), replays());
    await world.run(clear(leaves.once));
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.record()?.lease).toBeUndefined();
    const begun = world.clock.now();
    expect((await world.end(other.tab, pay(other.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.clock.now() - begun).toBeLessThan(2 * SECOND);
  });

  test('does not give away the lease of another driver', async () => {
    const { world, driver, other, leaves } = scene();
    const [first] = await world.begin(pay(driver.once, SLOW), delayed(40 * SECOND, charged(lost())), delayed(80 * SECOND, replays()));
    await world.run(clear(leaves.once));
    // Like a freeze of that process: its lease runs out, and another process takes over.
    world.damage((record) => ({ ...record, lease: undefined }) as OnceRecord);
    const second = pay(other.once, SLOW);
    expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.record()?.lease).toBeDefined();
    expect((await world.end(other.tab, second)).outcome).toMatchObject({ type: 'replayed' });
  });
});

describe('a driver that has died with a request on the wire, and another one that goes on and ends', () => {
  const LONG = { attempts: 1, attemptMs: 100 * SECOND } as const;
  const late = (seconds: number) => delayed(seconds * SECOND, charged(answers(201)));

  test('the first request keeps the app from settling as none, also after a log-out during the second attempt', async ({ world }) => {
    const [one, two, three] = [1, 2, 3].map(() => open(world, { namespace: 'shop', limits: LONG })) as [
      ReturnType<typeof open>,
      ReturnType<typeof open>,
      ReturnType<typeof open>,
    ];
    await world.dies(one, {}, late(80), delayed(10 * SECOND, lost()));
    await world.clock.advance(16 * SECOND);
    const [second] = await world.begin(pay(two.once));
    await world.run(clear(three.once));
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
    await world.refusesNone(three.once);
    // Until the first one's attempt has ended, which is its lease and the time of an attempt.
    await world.takesNone(three.once, 90 * SECOND);
  });

  test('also if the first one drove without the lock, which the second one holds', async ({ world }) => {
    const page = () => world.open({ namespace: 'shop', limits: LONG });
    const [frozen, one, two, three] = [page(), page(), page(), page()];
    world.server.plays(lost(), late(95), delayed(10 * SECOND, lost()));
    frozen.tab.at(6, () => frozen.tab.freeze());
    await world.begin(pay(frozen.once));
    void pay(one.once);
    await world.clock.advance(61 * SECOND);
    expect(world.server.arrivals).toHaveLength(2);
    for (const { tab } of [frozen, one]) tab.kill();
    await world.clock.advance(16 * SECOND);
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
    await world.refusesNone(three.once);
  });
});

test('the mark before the first attempt keeps the renewed end of the lease', async ({ world }) => {
  const [driver, other] = [open(world), open(world)];
  driver.tab.online = false;
  world.server.plays(delayed(20 * SECOND, charged(answers(201))));
  const first = pay(driver.once, { limits: { ...SLOW.limits, offlineWaitMs: 13 * SECOND } });
  // The call waits offline for nearly as long as a lease, is marked, and leaves.
  await world.clock.advance(13 * SECOND);
  await rest();
  const { until = 0 } = world.record()?.lease ?? {};
  expect(world.record()?.ambiguous).toBe(true);
  expect(until - world.clock.now()).toBeGreaterThan(10 * SECOND);
  await world.refusesNone(other.once);
  expect((await world.end(driver.tab, first)).outcome).toMatchObject({ effect: 'done' });
});

describe('an operation that is moved to another namespace while an attempt is on the wire', () => {
  test.each([
    ['processes', PROCESS, {}],
    ['pages', {}, {}],
    ['pages, with both clients in one of them', {}, { same: true }],
  ] as const)('is busy there as long as that attempt may take: %s', async (_, of, { same = false }: { same?: boolean }) => {
    const world = newWorld();
    const guest = open(world, { namespace: 'guest', limits: { attemptMs: MINUTE } }, of);
    const tab = same ? guest.tab : world.tab(of);
    const user = tab.once({ namespace: 'ann', limits: { attemptMs: MINUTE } });
    const [first] = await world.begin(pay(guest.once, { limits: { attempts: 1, attemptMs: MINUTE } }), delayed(50 * SECOND, charged(answers(201))), replays());
    await world.run(move(user, 'guest'));
    for (const wait of [0, 20 * SECOND, 20 * SECOND]) {
      await world.refusesNone(user, wait);
    }
    await world.end(guest.tab, first);
    await world.clock.advance(MINUTE);
    expect((await world.end(tab, pay(user))).outcome).toMatchObject({ type: 'replayed' });
  });

  test('is continued at once by a press of its user, whose page has the lock', async ({ world }) => {
    const guest = open(world, { namespace: 'guest', limits: { attemptMs: MINUTE } }, {});
    const user = open(world, { namespace: 'ann' }, {});
    const [first] = await world.begin(pay(guest.once, { limits: { attempts: 1 } }), delayed(50 * SECOND, charged(answers(201))), replays());
    await world.run(move(user.once, 'guest'));
    expect(await world.end(user.tab, pay(user.once))).toMatchObject({ outcome: { type: 'replayed' }, ms: 0 });
    await world.end(guest.tab, first);
  });

  test('ends as none once the app says so, even if presses that went on with it took longer than that attempt could', async ({ world }) => {
    const guest = open(world, { namespace: 'guest' }, {});
    const user = open(world, { namespace: 'ann', ...ONE, reconcile: async () => 'none' }, {});
    const [first] = await world.begin(pay(guest.once, ONE), delayed(20 * SECOND, lost()));
    await world.run(move(user.once, 'guest'));
    const ends = [];
    for (let press = 0; press < 3; press++) {
      ends.push((await world.end(user.tab, pay(user.once), delayed(20 * SECOND, answers(400, { code: 'bad_card' })))).outcome?.effect);
    }
    expect(ends).toEqual(['unknown', 'none', 'none']);
    await world.end(guest.tab, first);
  });

  test.each([
    ['a process', PROCESS],
    ['a page', { locks: false }],
  ])('is busy there, too, if %s sleeps and its lease has run out: its attempt may still arrive', async (_, of) => {
    const world = newWorld();
    const guest = open(world, { namespace: 'guest' }, of);
    const user = open(world, { namespace: 'ann' }, of);
    await world.begin(pay(guest.once, ONE), delayed(29 * SECOND, charged(answers(201))));
    guest.tab.freeze();
    await world.clock.advance(16 * SECOND);
    await world.run(move(user.once, 'guest'));
    for (const wait of [0, 28 * SECOND]) {
      await world.refusesNone(user.once, wait);
    }
    await world.takesNone(user.once, 2 * SECOND);
    expect(await world.run(pending(user.once))).toEqual([]);
  });

  test('is not busy if nobody drives it', async ({ world }) => {
    const guest = open(world, { namespace: 'guest' });
    await world.end(guest.tab, pay(guest.once, { limits: { attempts: 1 } }), charged(lost()));
    const user = open(world, { namespace: 'ann' });
    await world.run(move(user.once, 'guest'));
    await world.run(settle(user.once, NAME, 'done'));
    expect(await world.run(pending(user.once))).toEqual([]);
  });
});

describe('attempts that may take longer than a day', () => {
  const limits = { attemptMs: 25 * 60 * MINUTE, keyWindowMs: 30 * 24 * 60 * MINUTE };

  test.for([
    ['is dead', async () => {}],
    ['is asleep, and its record was moved', (once: Once) => move(once, 'guest')],
  ] as const)('of a process that %s may still arrive, so they are not settled as none', async ([, moves], { world }) => {
    const first = open(world, { namespace: 'guest', limits });
    const second = open(world, { namespace: moves.length ? 'ann' : 'guest', limits });
    await world.begin(pay(first.once), hangs());
    first.tab.freeze();
    await world.run(moves(second.once));
    await world.refusesNone(second.once, 20 * SECOND);
  });
});
