/**
 * Goal: how old a key is, is told by the store's clock where it has one: machines have different clocks, and a server forgets its keys
 * by real time. Method: two processes over a store with a clock of its own, one of whose machines is wrong by hours.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { stripe } from '../../src/entries/dialects.js';
import { clear, move, settle } from '../../src/entries/index.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { HOUR, MINUTE, NAME, newWorld, ONE, pay, SECOND, test, watched } from '../support/world.js';

const EXPIRED = { code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown', reason: 'key-expired' } };

describe('a key that the server has forgotten is not sent again', () => {
  /** A payment whose answer is lost on a machine that is wrong by `skewMs`, and whose process is gone. */
  async function lostOn(skewMs: number, offlineMs = 0) {
    const world = newWorld();
    const { tab, once } = world.open({}, { server: true });
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
  ])('where it first left by a clock that was twenty hours fast%s', async (_, offlineMs) => {
    const world = await lostOn(20 * HOUR, offlineMs);
    expect(world.server.arrivals).toHaveLength(1);
    await world.clock.advance(30 * HOUR);
    const { tab, once } = world.open({}, { server: true });
    expect(await world.end(tab, pay(once))).toMatchObject(EXPIRED);
  });

  test('by a process whose clock is ten hours slow, to read again what was done', async ({ world }) => {
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

  test('but one that the server still knows is, to read again what was done, by a process whose clock is ten hours slow', async ({ world }) => {
    const options = { dialect: stripe(), keep: { response: false } } as const;
    const { tab, once } = world.open(options, { server: true });
    await world.end(tab, pay(once), answers(201));
    tab.kill();
    const slow = world.open(options, { server: true });
    slow.tab.skewMs = -10 * HOUR;
    expect(await world.end(slow.tab, pay(slow.once), replays(201))).toMatchObject({ status: 201, outcome: { type: 'replayed' } });
  });

  test('that stayed in use after a refusal, by a process whose clock is ten hours slow: a new key is sent', async ({ world }) => {
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
  const world = newWorld();
  const { tab, once } = world.open({}, { server: true });
  const { outcome } = await world.end(tab, pay(once, ONE), charged(lost()), answers(503), replays(201));
  const slow = world.open({}, { server: true });
  slow.tab.skewMs = skewMs;
  expect((await world.end(slow.tab, pay(slow.once))).outcome).toMatchObject({ effect: 'done', key: outcome?.key, attempts: 2 });
});

test.each([-HOUR, 10 * MINUTE, HOUR])('a key that left a machine whose clock is wrong by %i ms is sent again by one whose clock is right', async (skewMs) => {
  const world = newWorld();
  const wrong = world.open(ONE, { server: true });
  wrong.tab.skewMs = skewMs;
  const { outcome } = await world.end(wrong.tab, pay(wrong.once), charged(lost()));
  wrong.tab.kill();
  const { tab, once } = world.open({}, { server: true });
  expect((await world.end(tab, pay(once), replays(201))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});

test.each([-HOUR, HOUR])(
  'a process that hung, on a machine that is wrong by %i ms, may not settle as none what another one has sent meanwhile',
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

describe('a log-out leaves for a moment what has just ended, for the calls that wait for it, though a clock is wrong', () => {
  test.each<[string, number, number, typeof NAME | undefined]>([
    ['that of the machine that logs out', 0, HOUR, undefined],
    ['that of the machine that drove it', -HOUR, 0, undefined],
    ['that of the machine that settled it by hand', -HOUR, 0, NAME],
  ])('%s', async (_, driverMs, otherMs, byHand) => {
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
});

test.each([-30 * HOUR, 30 * HOUR])('a call without a name goes on under the key of one that was lost, on a device wrong by %i ms', async (skewMs) => {
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

test('a key that counts for one account is not sent for another one, though a machine that was ten hours fast has moved it there', async ({ world }) => {
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

test.for([31_000, 4 * MINUTE, HOUR])('nor is it sent when the clock is set back by %i ms after the move', async (backMs, { world }) => {
  const options = { ...ONE, dialect: { ...GENERIC, perAccount: true } };
  const guest = world.open({ ...options, namespace: 'guest' });
  await world.end(guest.tab, pay(guest.once), charged(lost()));
  const ann = guest.tab.once({ ...options, namespace: 'ann' });
  await world.clock.advance(2 * HOUR);
  await world.run(move(ann, 'guest'));
  guest.tab.skewMs = -backMs;
  expect(await world.end(guest.tab, pay(ann))).toMatchObject(EXPIRED);
  expect(world.server.arrivals).toHaveLength(1);
});

test.for([-30 * HOUR, 30 * HOUR])('a machine that is wrong by %i ms tries again as any other does', async (skewMs, { world }) => {
  const { tab, once } = world.open({ limits: { keyWindowMs: 10 * MINUTE } }, { server: true });
  tab.skewMs = skewMs;
  expect((await world.end(tab, pay(once), charged(lost()), answers(503), replays(201))).outcome).toMatchObject({ effect: 'done', attempts: 3 });
});
