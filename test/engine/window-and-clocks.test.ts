/**
 * Goal: the clock of the store, if it has one, says how old a key is, because machines have different clocks, and a server forgets its keys by real time.
 * Method: two processes over a store with a clock of its own; the clock of one machine is wrong by hours.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { defineDialect, inHeader, stripe } from '../../src/entries/dialects.js';
import { clear, move, resumeOne, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, during, idle, lost, replays } from '../support/server.js';
import { DAY, HOUR, MINUTE, NAME, newWorld, ONE, pay, resumed, SECOND, test, watched } from '../support/world.js';

const EXPIRED = { code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown', reason: 'key-expired' } };

describe('a key that the server has forgotten is not sent again', () => {
  /** A payment whose answer is lost, on a machine whose clock is wrong by `skewMs`. Its process is gone afterwards. */
  async function lostOn(skewMs: number, offlineMs = 0) {
    const { world, tab, once } = newWorld().open({}, { server: true });
    tab.skewMs = skewMs;
    tab.connect(offlineMs === 0);
    world.clock.timer(offlineMs, () => tab.connect(true));
    await world.end(tab, pay(once, ONE), lost());
    tab.kill();
    return world;
  }

  test('by a process whose clock is ten hours slow', async () => {
    const world = await lostOn(0);
    await world.clock.advance(26 * HOUR);
    const { tab, once } = world.open({}, { server: true });
    tab.skewMs = -10 * HOUR;
    expect(await world.end(tab, pay(once))).toMatchObject(EXPIRED);
  });

  test.each([
    ['', 0],
    [', once its device was online', 2 * SECOND],
  ])('if it first left a machine whose clock was twenty hours fast%s', async (_, offlineMs) => {
    const world = await lostOn(20 * HOUR, offlineMs);
    expect(world.server.arrivals).toHaveLength(1);
    await world.clock.advance(30 * HOUR);
    const { tab, once } = world.open({}, { server: true });
    expect(await world.end(tab, pay(once))).toMatchObject(EXPIRED);
  });

  test('by a client that does not know the window of the dialect, which a function gave for the request of an earlier page', async ({ world }) => {
    const first = world.open({ dialect: () => ({ ...GENERIC, windowMs: 10 * MINUTE }) });
    await world.end(first.tab, pay(first.once, ONE), lost());
    first.tab.kill();
    await world.clock.advance(HOUR);
    const { tab, once } = world.open({ limits: { keyWindowMs: DAY } });
    expect(await world.end(tab, pay(once))).toMatchObject(EXPIRED);
  });

  test('by a process whose clock is ten hours slow, to get the answer of a done operation again', async ({ world }) => {
    const options = { dialect: stripe(), keep: { response: false } } as const;
    const { tab, once } = world.open(options, { server: true });
    await world.end(tab, pay(once), answers(201));
    tab.kill();
    await world.clock.advance(26 * HOUR);
    const slow = world.open(options, { server: true });
    slow.tab.skewMs = -10 * HOUR;
    expect(await world.end(slow.tab, pay(slow.once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('while one that it still knows is sent by a process whose clock is ten hours slow, to get the answer of a done operation again', async ({ world }) => {
    const options = { dialect: stripe(), keep: { response: false } } as const;
    const { tab, once } = world.open(options, { server: true });
    await world.end(tab, pay(once), answers(201));
    tab.kill();
    const slow = world.open(options, { server: true });
    slow.tab.skewMs = -10 * HOUR;
    expect(await world.end(slow.tab, pay(slow.once), replays(201))).toMatchObject({ status: 201, outcome: { type: 'replayed' } });
  });

  test('by a process whose clock is set back while the call waits', async ({ world }) => {
    const { tab, once } = world.open({ limits: { keyWindowMs: 3 * MINUTE, totalMs: HOUR } }, { server: true, locks: false });
    const setBack = during(() => void (tab.skewMs = -4 * MINUTE), answers(503, {}, { 'Retry-After': '240' }));
    expect(await world.end(tab, pay(once), charged(setBack))).toMatchObject(EXPIRED);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('by a process whose clock is ten hours slow, if it had stayed in use after a refusal: a new key is sent', async ({ world }) => {
    const { tab, once } = world.open({}, { server: true });
    await world.end(tab, pay(once), answers(401));
    tab.kill();
    await world.clock.advance(26 * HOUR);
    const slow = world.open({}, { server: true });
    slow.tab.skewMs = -10 * HOUR;
    expect((await world.end(slow.tab, pay(slow.once), answers(201))).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(2);
  });
});

test.each([-10 * MINUTE, -10 * HOUR])('a key that the server knows is sent again by a process whose clock is wrong by %i ms', async (skewMs) => {
  const { world, tab, once } = newWorld().open({}, { server: true });
  const { outcome } = await world.end(tab, pay(once, ONE), charged(lost()), answers(503), replays(201));
  const slow = world.open({}, { server: true });
  slow.tab.skewMs = skewMs;
  expect((await world.end(slow.tab, pay(slow.once))).outcome).toMatchObject({ effect: 'done', key: outcome?.key, attempts: 2 });
});

test.each([-HOUR, 10 * MINUTE, HOUR])(
  'a key that left a machine whose clock is wrong by %i ms is sent again by a machine whose clock is right',
  async (skewMs) => {
    const world = newWorld();
    const wrong = world.open(ONE, { server: true });
    wrong.tab.skewMs = skewMs;
    const { outcome } = await world.end(wrong.tab, pay(wrong.once), charged(lost()));
    wrong.tab.kill();
    const { tab, once } = world.open({}, { server: true });
    expect((await world.end(tab, pay(once), replays(201))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  },
);

test.each([-HOUR, HOUR])(
  'a process that hung, on a machine whose clock is wrong by %i ms, may not settle as none what another process has sent meanwhile',
  async (skewMs) => {
    const world = newWorld();
    const PROCESS = { server: true, locks: false, claims: { shared: 'cluster', ownClock: true } } as const;
    const [app, other] = [world.open({}, PROCESS), world.open(ONE, PROCESS)];
    app.tab.skewMs = skewMs;
    await world.end(other.tab, pay(other.once), lost());
    app.tab.at(1, () => app.tab.freeze());
    const word = watched(settle(app.once, NAME, 'none'));
    await world.clock.advance(5 * SECOND);
    await world.end(other.tab, pay(other.once), charged(lost()));
    app.tab.thaw();
    await expect(world.run(word)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    expect(world.record()).toMatchObject({ state: 'pending' });
  },
);

test.each<[string, number, number, typeof NAME | undefined]>([
  ['the clock of the machine that logs out', 0, HOUR, undefined],
  ['the clock of the machine that drove the operation', -HOUR, 0, undefined],
  ['the clock of the machine that settled it by hand', -HOUR, 0, NAME],
])('even with a wrong clock, a log-out leaves what has just ended for a moment, for the calls that wait for it: %s', async (_, driverMs, otherMs, byHand) => {
  const world = newWorld();
  const [driver, other] = [world.open(ONE, { server: true }), world.open(ONE, { server: true })];
  [driver.tab.skewMs, other.tab.skewMs] = [driverMs, otherMs];
  await world.end(driver.tab, pay(driver.once), byHand ? lost() : charged(answers(201)));
  if (byHand) await world.run(settle(driver.once, byHand, 'done'));
  await world.run(clear(other.once));
  expect(world.record()).toMatchObject({ state: 'settled' });
  await world.clock.advance(3 * MINUTE);
  await world.run(clear(other.once));
  expect(world.record()).toBeUndefined();
});

test.each([-30 * HOUR, 30 * HOUR])('a call without a name goes on under the key of a lost call, on a device whose clock is wrong by %i ms', async (skewMs) => {
  const world = newWorld();
  world.server.plays(charged(lost()), replays());
  const post = async (skewMs: number) => {
    const tab = world.tab({ ownClock: true });
    tab.skewMs = skewMs;
    const once = tab.once({ fetch: tab.fetch, limits: { attempts: 1 } });
    return world.end(tab, watched(once.fetch('https://shop.example/notes', { method: 'POST', body: '{}' })));
  };
  const { outcome } = await post(0);
  await world.clock.advance(MINUTE);
  expect((await post(skewMs)).outcome).toMatchObject({ type: 'replayed', resumed: true, key: outcome?.key });
});

test('a key that counts for one account only is not sent for another user after a move, even if the clock was ten hours fast during the move', async ({
  world,
}) => {
  const options = { ...ONE, dialect: { ...GENERIC, perAccount: true } };
  const fast = world.open({ ...options, namespace: 'guest' }, { server: true });
  await world.end(fast.tab, pay(fast.once), lost());
  fast.tab.skewMs = 10 * HOUR;
  await world.run(move(fast.tab.once({ ...options, namespace: 'ann' }), 'guest'));
  fast.tab.kill();
  const { tab, once } = world.open({ ...options, namespace: 'ann' }, { server: true });
  expect(await world.end(tab, pay(once))).toMatchObject(EXPIRED);
  expect(world.server.arrivals).toHaveLength(1);
});

test.for([31_000, 4 * MINUTE, HOUR])(
  'a key that counts for one account only is not sent for another user if the clock is set back by %i ms after the move',
  async (backMs, { world }) => {
    const options = { ...ONE, dialect: { ...GENERIC, perAccount: true } };
    const guest = world.open({ ...options, namespace: 'guest' });
    await world.end(guest.tab, pay(guest.once), charged(lost()));
    const ann = guest.tab.once({ ...options, namespace: 'ann' });
    await world.clock.advance(2 * HOUR);
    await world.run(move(ann, 'guest'));
    guest.tab.skewMs = -backMs;
    expect(await world.end(guest.tab, pay(ann))).toMatchObject(EXPIRED);
    expect(world.server.arrivals).toHaveLength(1);
  },
);

test.for([-30 * HOUR, 30 * HOUR])('a machine whose clock is wrong by %i ms retries as any other does', async (skewMs, { world }) => {
  const { tab, once } = world.open({ limits: { keyWindowMs: 10 * MINUTE } }, { server: true });
  tab.skewMs = skewMs;
  expect((await world.end(tab, pay(once), charged(lost()), answers(503), replays(201))).outcome).toMatchObject({ effect: 'done', attempts: 3 });
});

describe('the dialect of a request says how long its server remembers a key', () => {
  const PER_ACCOUNT = defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), perAccount: true });
  const remembering = (windowMs: number) => defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), windowMs });
  const options = (windowMs: number) => ({ namespace: 'ann', keep: { request: true }, dialect: () => remembering(windowMs) }) as const;

  test('a server that remembers keys for a month gets the key again after two days', async ({ world }) => {
    const { tab, once } = world.open(options(30 * DAY));
    await world.end(tab, pay(once, ONE), charged(lost()));
    await world.clock.advance(2 * DAY);
    const next = tab.reload();
    expect(await world.end(next, watched(resumeOne(next.once(options(30 * DAY)), NAME)), replays())).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('a resume on the first day does not shorten this for a press on the third', async ({ world }) => {
    const { tab, once } = world.open({ ...options(30 * DAY), ...ONE });
    await world.end(tab, pay(once), charged(lost()));
    await world.end(tab, watched(resumeOne(once, NAME)), lost());
    await world.clock.advance(2 * DAY);
    expect(await world.end(tab, pay(once), replays())).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('a server that forgets after an hour does not get the key after two, and a shorter limit of the app wins', async ({ world }) => {
    const { tab, once } = world.open(options(HOUR));
    await world.end(tab, pay(once, ONE), charged(lost()));
    await world.clock.advance(2 * HOUR);
    const late = { code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } };
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject(late);
    const own = world.tab().once({ ...options(30 * DAY), limits: { keyWindowMs: HOUR } });
    expect(await world.end(tab, watched(resumeOne(own, NAME)))).toMatchObject(late);
  });

  test.for([
    ['a dialect', PER_ACCOUNT],
    ['a function of the request', () => PER_ACCOUNT],
    [
      'a function that fails',
      () => {
        throw new Error('a bug of the app');
      },
    ],
  ] as const)('a key that counts for one account only is not sent for another user after a move: %s', async ([, dialect], { world }) => {
    const guest = world.open({ namespace: 'guest', dialect: PER_ACCOUNT });
    await world.end(guest.tab, pay(guest.once, ONE), charged(lost()));
    const { once } = world.open({ namespace: 'ann', dialect });
    await world.run(move(once, 'guest'));
    const next = world.open({ namespace: 'ann', dialect: PER_ACCOUNT });
    expect(await world.end(next.tab, pay(next.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });

  test.for([answers(200, { state: 'failed' }), answers(200, { state: 'done' })])(
    'the link of a 202 is not polled for another user after such a move: it may lead to the work of another operation',
    async (otherWork, { world }) => {
      const options = { accepted: 'poll', dialect: PER_ACCOUNT, limits: { inProgressMs: 5 * SECOND } } as const;
      const guest = world.open({ ...options, namespace: 'guest' });
      world.server.plays(charged(answers(202, '', { location: '/jobs/1' })));
      world.server.otherwise = idle(answers(202, { state: 'running' }));
      await world.end(guest.tab, pay(guest.once));
      const sent = world.server.arrivals.length;
      const ann = world.open({ ...options, namespace: 'ann' });
      await world.run(move(ann.once, 'guest'));
      world.server.otherwise = idle(otherWork);
      expect(await world.end(ann.tab, pay(ann.once))).toMatchObject(EXPIRED);
      expect(world.server.arrivals).toHaveLength(sent);
    },
  );

  test('an equal call without a name is not sent under a new key after such a move: the lost call may have taken effect', async ({ world }) => {
    const options = { dialect: PER_ACCOUNT, ...ONE } as const;
    const post = (once: Once) => watched(once.fetch('https://shop.example/notes', { method: 'POST', body: '{}' }));
    const guest = world.open({ ...options, namespace: 'guest' });
    await world.end(guest.tab, post(guest.once), charged(lost()));
    const ann = world.open({ ...options, namespace: 'ann' });
    await world.run(move(ann.once, 'guest'));
    expect(await world.end(ann.tab, post(ann.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
    await world.clock.advance(2 * DAY);
    expect((await world.end(ann.tab, post(ann.once), answers(201))).outcome).toMatchObject({ effect: 'done' });
  });

  test('after such a move, neither a resume nor a second tab sends the lost call, and a log-out keeps it', async ({ world }) => {
    const options = { dialect: PER_ACCOUNT, keep: { request: true }, ...ONE } as const;
    const post = (once: Once) => watched(once.fetch('https://shop.example/notes', { method: 'POST', body: '{}' }));
    const guest = world.open({ ...options, namespace: 'guest' });
    await world.end(guest.tab, post(guest.once), charged(lost()));
    const ann = world.open({ ...options, namespace: 'ann' });
    await world.run(move(ann.once, 'guest'));
    const second = world.open({ ...options, namespace: 'ann' });
    expect(await world.end(second.tab, post(second.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
    expect(await resumed(ann.once)).toMatchObject([{ outcome: { effect: 'unknown', reason: 'key-expired' } }]);
    expect((await world.run(clear(ann.once))).kept).toHaveLength(1);
    expect(await world.end(ann.tab, post(ann.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('where the clock of the device is the only one, and is right again: docs/outcomes.md says what that can lead to', () => {
  test('a clock that was hours ahead when the key first left: the key goes out that much after its window, but never before the clock has caught up', async () => {
    for (const hours of [2, 25]) {
      const world = newWorld();
      const fast = world.open(ONE);
      fast.tab.skewMs = 3 * HOUR;
      await world.end(fast.tab, pay(fast.once), charged(lost()));
      fast.tab.kill();
      await world.clock.advance(hours * HOUR);
      const { tab, once } = world.open();
      const end = await world.end(tab, pay(once), ...(hours === 25 ? [replays()] : []));
      expect(end).toMatchObject(hours === 25 ? { outcome: { effect: 'done' } } : EXPIRED);
    }
  });

  test('a clock that was a month behind when the operation was done: its name counts as forgotten', async ({ world }) => {
    const slow = world.open();
    slow.tab.skewMs = -31 * DAY;
    await world.end(slow.tab, pay(slow.once), answers(201));
    slow.tab.kill();
    const { tab, once } = world.open();
    expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });
});

test("a store's clock that is ten minutes slow does not end the key window of a call that gave up", async ({ world }) => {
  const tab = world.tab({ ownClock: true });
  tab.skewMs = 10 * MINUTE;
  const once = tab.once();
  const { outcome } = await world.end(tab, pay(once, ONE), answers(503, undefined, { 'retry-after': '9' }));
  expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});
