/**
 * Goal: a customer whose device is offline hears it within seconds, being offline uses up no attempt, and the operation goes on under its key when the network
 * is back. Method: the network goes at each moment of a payment, for a short or a long time.
 */
import { describe, expect } from 'vitest';
import { StopSource } from '../../src/engine/stop-signal.js';
import { close, type OnceEvent, operation, resumeOne, subscribe } from '../../src/entries/index.js';
import type { Connectivity } from '../../src/ports.js';
import { answers, charged, during, type Entry, lost, replays, unreachable } from '../support/server.js';
import { HOUR, MINUTE, NAME, newWorld, pay, rest, SECOND, test, watched } from '../support/world.js';

/** The network is lost during the attempt, which takes effect. */
const gone = (tab: { connect(online: boolean): void }): Entry => during(() => tab.connect(false), charged(lost()));

describe('a device that goes offline in the middle of a call', () => {
  test('tells its customer within seconds: unknown, because it is offline', async ({ world, tab, once }) => {
    const begun = world.clock.now();
    const end = await world.end(tab, pay(once), gone(tab));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'offline', attempts: 1, sent: 'maybe' } });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(5 * SECOND);
    expect(world.record()).toMatchObject({ state: 'pending' });
    expect(operation(once, NAME).state).toMatchObject({ phase: 'unsettled' });
  });

  test('reports at once that it waits for the network', async ({ world }) => {
    world.random = () => 0;
    const { tab, once } = world.open();
    const events: OnceEvent[] = [];
    subscribe(once, (event) => events.push(event));
    const begun = world.clock.now();
    await world.end(tab, pay(once), gone(tab));
    expect(events.find(({ type, ...event }) => type === 'wait' && (event as { why?: string }).why === 'offline')).toMatchObject({
      at: begun,
      until: begun + 3 * SECOND,
    });
  });

  test('goes on under the same key at the next press or by resume, with its full number of attempts', async () => {
    for (const next of ['press', 'resume'] as const) {
      const { world, tab, once } = newWorld().open();
      const first = await world.end(tab, pay(once), gone(tab));
      await world.clock.advance(HOUR);
      tab.connect(true);
      const call = next === 'press' ? pay(once) : watched(resumeOne(once, NAME));
      expect(await world.end(tab, call, lost(), lost(), replays())).toMatchObject({
        status: 201,
        outcome: { type: 'replayed', key: first.outcome?.key, attempts: 3 },
      });
    }
  });

  test.for([
    ['within seconds', 2 * SECOND, { attempts: 2 }],
    ['within limits.offlineWaitMs', 40 * SECOND, { attempts: 2, offlineWaitMs: MINUTE }],
  ] as const)('goes on when the network is back %s, and has used up no attempt', async ([_, at, limits], { world }) => {
    const { tab, once } = world.open({ limits });
    world.server.plays(gone(tab), replays());
    world.clock.timer(at, () => tab.connect(true));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { attempts: 2 } });
  });

  test('gets the full waiting time again each time the network comes back', async ({ world }) => {
    world.random = () => 0;
    const { tab, once } = world.open();
    world.server.plays(gone(tab), gone(tab), replays());
    for (const at of [2 * SECOND, 4 * SECOND]) world.clock.timer(at, () => tab.connect(true));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { attempts: 3 } });
  });

  test('tells its customer that nothing was sent if no byte can have left', async ({ world, tab, once }) => {
    world.server.plays(during(() => tab.connect(false), unreachable()));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', reason: 'offline' } });
    expect(world.record()).toBeUndefined();
  });

  test('tells its customer within seconds while it polls accepted work', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll' });
    const begun = world.clock.now();
    world.server.plays(
      charged(answers(202, '', { location: '/jobs/1' })),
      during(() => tab.connect(false), lost()),
    );
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'offline' });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(5 * SECOND);
  });
});

test('a device that is offline from the start makes one attempt, in case the hint is wrong, and tells its customer', async ({ world, tab, once }) => {
  tab.online = false;
  const begun = world.clock.now();
  expect((await world.end(tab, pay(once), lost())).outcome).toMatchObject({ effect: 'unknown', reason: 'offline', attempts: 1 });
  expect(world.clock.now() - begun).toBeLessThanOrEqual(5 * SECOND);
});

describe('a device that says that it is offline, and is not', () => {
  test('is not believed when the server answers: a 503 is retried like any other', async ({ world, tab, once }) => {
    tab.online = false;
    expect(await world.end(tab, pay(once), answers(503), answers(503), answers(201))).toMatchObject({ status: 201, outcome: { attempts: 3 } });
  });
});

test('setting the clock back while the device is offline does not make the wait longer', async ({ world, tab, once }) => {
  tab.online = false;
  const begun = world.clock.monotonic();
  world.server.plays(during(() => world.clock.jump(-4 * MINUTE), lost()));
  world.server.otherwise = lost();
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown' });
  expect(world.clock.monotonic() - begun).toBeLessThan(MINUTE);
});

test('offlineWaitMs: Infinity waits as long as the call may take, and makes one attempt each time the page wakes up offline', async ({ world }) => {
  const { tab, once } = world.open({ limits: { offlineWaitMs: Number.POSITIVE_INFINITY } });
  world.server.plays(gone(tab));
  const call = pay(once);
  // For example, the page is shown again and is still offline: it makes one attempt each time.
  for (let shown = 0; shown < 2; shown++) {
    await world.clock.advance(20 * SECOND);
    world.server.plays(lost());
    tab.wake();
    await world.clock.advance(20 * SECOND);
    expect(world.server.arrivals).toHaveLength(2 + shown);
  }
  world.server.plays(replays());
  tab.connect(true);
  expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'done', attempts: 4 });
});

describe('a connectivity hint that fails neither ends a call nor makes it hang', () => {
  const broken = (): never => {
    throw new Error('a bug of the app');
  };
  const SOUND: Connectivity = { online: () => true, subscribe: () => () => {} };
  const HINTS: [string, Connectivity][] = [
    ['whose unsubscribe throws', { ...SOUND, subscribe: () => broken }],
    ['whose subscribe returns nothing', { ...SOUND, subscribe: () => undefined as never }],
    ['whose subscribe returns an object', { ...SOUND, subscribe: () => ({ remove() {} }) as never }],
    ['whose subscribe throws', { ...SOUND, subscribe: broken }],
    ['whose online throws', { ...SOUND, online: broken }],
  ];

  describe.each(HINTS)('one %s', (_, connectivity) => {
    test('lets a call go on after a lost answer, and is reported', async ({ world }) => {
      const { tab, once } = world.open({ connectivity });
      expect((await world.end(tab, pay(once), charged(lost()), replays())).outcome).toMatchObject({ effect: 'done', attempts: 2 });
      expect(tab.reported.length).toBeGreaterThan(0);
    });

    test('lets an abort and close() end every wait', async ({ world }) => {
      const { tab, once } = world.open({ connectivity });
      world.server.plays(charged(lost()), charged(lost()), charged(lost()));
      const controller = new AbortController();
      const reason = new Error('the user left');
      const calls = [pay(once, { operation: ['a'], signal: controller.signal }), pay(once, { operation: ['b'] }), pay(once, { operation: ['c'] })];
      await rest();
      controller.abort(reason);
      const closed = close(once);
      const [given, ...others] = await world.all(tab, ...calls);
      expect(given?.error).toBe(reason);
      for (const { outcome } of others) expect(outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
      await closed;
    });
  });

  test('an abort listener that throws does not keep the other listeners from being called', async () => {
    const closing = new StopSource();
    const told: string[] = [];
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => void unhandled.push(error);
    const before = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', hear);
    closing.addEventListener('abort', broken);
    closing.addEventListener('abort', () => void told.push('second'));
    closing.abort();
    await rest();
    process.removeAllListeners('unhandledRejection');
    for (const one of before) process.on('unhandledRejection', one);
    expect([told, unhandled.length, closing.aborted]).toEqual([['second'], 1, true]);
  });
});
