/**
 * Goal: every wait is as long as it should be, and every call ends within its limits. Method: a clock that only the test
 * moves, randomness at its bounds, and hooks, bodies and transports that never come back.
 */
import { describe, expect } from 'vitest';
import { close, extend, type OnceEvent, resumeOne, subscribe } from '../../src/entries/index.js';
import { answers, charged, deaf, delayed, type Entry, hangs, lost, replays, stalls } from '../support/server.js';
import { MINUTE, NAME, newWorld, pay, SECOND, test, URL_, watched } from '../support/world.js';

const always = (entry: Entry, times = 4): Entry[] => Array<Entry>(times).fill(entry);

describe('backoff', () => {
  test.for([
    [0, [0, 0, 0, 0]],
    [0.5, [250, 500, 1000, 2000]],
    [0.999_999, [500, 1000, 2000, 4000]],
  ] as const)('is exponential with full jitter: random %d draws %j ms', async ([random, gaps], { world }) => {
    world.random = () => random;
    const { tab, once } = world.open();
    await world.end(tab, pay(once), ...always(lost()), charged(lost()));
    expect(world.server.gaps).toEqual(gaps);
  });

  test('never exceeds retry.maxDelayMs', async ({ world }) => {
    world.random = () => 0.999_999;
    const { tab, once } = world.open({ retry: { minDelayMs: 1000, maxDelayMs: 3000, factor: 10, budget: false }, limits: { attempts: 6 } });
    await world.end(tab, pay(once), ...always(lost(), 6));
    expect(world.server.gaps).toEqual([1000, 3000, 3000, 3000, 3000]);
  });

  test('draws a new random number for every wait', async ({ world }) => {
    const drawn = [0.1, 0.9, 0.2, 0.8];
    let draws = 0;
    world.random = () => drawn[draws++ % 4]!;
    const { tab, once } = world.open({ retry: { minDelayMs: 1000, maxDelayMs: 1000 } });
    await world.end(tab, pay(once), ...always(lost(), 5));
    expect(new Set(world.server.gaps).size).toBe(4);
  });

  test('grows with failed attempts, not with waits for work in progress', async ({ world }) => {
    world.random = () => 0.999_999;
    const { tab, once } = world.open();
    await world.end(tab, pay(once), answers(409, '', { 'retry-after': '1' }), answers(409, '', { 'retry-after': '1' }), lost(), lost(), answers(201));
    expect(world.server.gaps).toEqual([1000, 1000, 500, 1000]);
  });
});

describe('Retry-After', () => {
  const date = (ms: number) => new Date(1_700_000_000_000 + ms).toUTCString();
  test.each<[string, Record<string, string>, number]>([
    ['in seconds', { 'retry-after': '7' }, 7000],
    ['in fractions of a second', { 'retry-after': '1.5' }, 1500],
    ['as a date', { 'retry-after': date(9000) }, 9000],
    ['in milliseconds', { 'retry-after-ms': '250' }, 250],
    ['in milliseconds, which win over seconds', { 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    ['in seconds where the milliseconds are garbage', { 'retry-after-ms': 'soon', 'retry-after': '7' }, 7000],
  ])('%s is waited for exactly', async (_, headers, ms) => {
    for (const status of [503, 429, 409]) {
      const { world, tab, once } = newWorld().open();
      await world.end(tab, pay(once), answers(status, '', headers), answers(201));
      expect(world.server.gaps).toEqual([ms]);
    }
  });

  test.for(['', '-5', 'soon', 'NaN', '0', '1e3', '5 apples', 'tomorrow 2099', date(-9000)])('%j is ignored: the call backs off', async (garbage, { world }) => {
    world.random = () => 0.999_999;
    const { tab, once } = world.open();
    await world.end(tab, pay(once), answers(503, '', { 'retry-after': garbage }), answers(201));
    expect(world.server.gaps).toEqual([500]);
  });

  test('that does not fit into the time of the call ends it at once: unknown with retryAt, or rejected if clean', async ({ world, tab, once }) => {
    world.server.plays(answers(503, '', { 'retry-after': '600' }), answers(429, '', { 'retry-after': '600' }));
    const at = world.clock.now();
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 503, outcome: { effect: 'unknown', reason: 'unavailable', retryAt: at + 600 * SECOND } });
    expect(await world.end(tab, pay(once, { operation: ['other'] }))).toMatchObject({ status: 429, outcome: { type: 'rejected' } });
    expect(world.clock.now()).toBe(at);
  });

  test('of more than a year is stored as a year at most', async ({ world, tab, once }) => {
    const { outcome } = await world.end(tab, pay(once), answers(503, '', { 'retry-after': '99999999999999999999' }));
    expect((outcome as { retryAt: number }).retryAt).toBeLessThanOrEqual(world.clock.now() + 366 * 86_400_000);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });
});

describe('limits', () => {
  test('attempts: the first attempt is counted, too', async () => {
    for (const attempts of [1, 2, 5]) {
      const { world, tab, once } = newWorld().open({ limits: { attempts } });
      expect((await world.end(tab, pay(once), ...always(lost(), attempts))).outcome).toMatchObject({ attempts, effect: 'unknown' });
    }
  });

  test('attemptMs covers one attempt with its body, and begins anew for each', async ({ world }) => {
    world.random = () => 0;
    const { tab, once } = world.open({ limits: { attemptMs: 5 * SECOND } });
    world.server.plays(hangs(), stalls(200), delayed(4 * SECOND, replays()));
    world.server.charged.add('x');
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201 });
    expect(world.server.gaps).toEqual([5 * SECOND, 5 * SECOND]);
    expect(world.server.arrivals.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  });

  test.for([
    ['attemptMs holds in a runtime whose transport ignores aborts', { attemptMs: 5 * SECOND, attempts: 1 }, deaf(), 5 * SECOND],
    ['totalMs wins over all limits, and cuts attempts', { totalMs: 10 * SECOND, attemptMs: 30 * SECOND }, hangs(), 10 * SECOND],
  ] as const)('%s', async ([_, limits, entry, ms], { world }) => {
    const { tab, once } = world.open({ limits });
    expect(await world.end(tab, pay(once), entry)).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', ms });
  });

  test('totalMs over a clean refusal: the laptop sleeps past it, and the caller gets the refusal', async ({ world, tab, once }) => {
    const [call] = await world.begin(pay(once), answers(429, '', { 'retry-after': '60' }));
    world.clock.jump(10 * MINUTE);
    expect(await world.end(tab, call)).toMatchObject({ status: 429, outcome: { type: 'rejected', effect: 'none', sent: 'yes' } });
  });

  test('a headers hook that answers after the deadline sends nothing', async ({ world }) => {
    const { tab, once } = world.open({ limits: { totalMs: 5 * SECOND, attemptMs: 30 * SECOND } });
    const headers = () => new Promise<HeadersInit>((resolve) => void world.clock.timer(6 * SECOND, () => resolve({})));
    const begun = world.clock.now();
    expect(await world.end(tab, pay(once, { headers }))).toMatchObject({ code: 'ERR_ONCE_UNSENT' });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(5 * SECOND);
    await world.clock.runAll();
    expect(world.server.arrivals).toEqual([]);
  });

  test('a laptop that wakes up past totalMs, offline, ends the call at once', async ({ world, tab, once }) => {
    tab.online = false;
    tab.at(4, () => tab.freeze());
    const call = pay(once);
    await world.clock.advance(10 * MINUTE);
    tab.thaw();
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_UNSENT', ms: 0 });
  });

  test('an answer that is seen right after a sleep counts, even if the clock was set back meanwhile', async ({ world, tab, once }) => {
    const [call] = await world.begin(pay(once), delayed(2 * MINUTE + 500, answers(201)));
    tab.freeze();
    await world.clock.advance(2 * MINUTE);
    tab.skewMs = -20 * MINUTE;
    tab.thaw();
    expect(await world.end(tab, call)).toMatchObject({ status: 201, outcome: { type: 'fresh', attempts: 1 } });
  });

  test('a call gives up a store that hangs after ten seconds', async ({ world, tab, once }) => {
    tab.faults.next('hang');
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', ms: 10 * SECOND });
  });

  test('a write of the end that hangs keeps a 2xx from its caller for ten seconds at most', async ({ world, tab, once }) => {
    tab.faults.next('none', 'hang');
    world.server.plays(answers(201));
    const begun = world.clock.now();
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(10 * SECOND);
  });

  test('a write of the end that fails after a refusal makes the outcome unknown', async ({ world, tab, once }) => {
    tab.faults.next('none', 'fail-before-commit');
    expect(await world.end(tab, pay(once), answers(402))).toMatchObject({ status: 402, outcome: { effect: 'unknown', reason: 'store' } });
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('a write of the end that fails after a 2xx: done all the same, and the next page gets the replay', async ({ world, tab, once }) => {
    tab.faults.next('none', 'fail-before-commit');
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    const next = tab.reload();
    expect((await world.end(next, pay(next.once()), replays())).outcome).toMatchObject({ type: 'replayed', resumed: true });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

describe('close', () => {
  test('ends a backoff; the caller is told unknown', async ({ world }) => {
    const { tab, once } = world.open({ retry: { minDelayMs: MINUTE, maxDelayMs: MINUTE } });
    world.random = () => 0.999;
    world.server.plays(charged(lost()));
    const call = pay(once);
    await world.clock.advance(SECOND);
    const begun = world.clock.now();
    await world.run(close(once));
    expect(world.clock.now()).toBe(begun);
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'aborted' } });
  });

  test('ends the wait for a lock, and leaves the other tab its claim', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(20 * SECOND, answers(503)), answers(201));
    const second = pay(two.once);
    await world.clock.advance(SECOND);
    const begun = world.clock.now();
    await world.run(close(two.once));
    expect(world.clock.now()).toBe(begun);
    expect((await world.end(two.tab, second)).response).toBeUndefined();
    expect(await world.end(one.tab, first)).toMatchObject({ status: 201, outcome: { attempts: 2 } });
  });

  test('in a tab that slept over its read of the record makes the outcome unknown: another tab may have paid since', async ({ world }) => {
    const [one, two] = [world.open({}, { locks: false }), world.open()];
    // The fourth crossing: to the lock and back, to the record and back.
    two.tab.at(4, () => two.tab.freeze());
    const left = pay(two.once);
    await world.begin(close(two.once));
    expect(await world.end(one.tab, pay(one.once), delayed(2 * SECOND, answers(201)))).toMatchObject({ status: 201 });
    two.tab.thaw();
    expect(await world.end(two.tab, left)).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'aborted' } });
  });

  test('waits for an attempt under way', async ({ world, tab, once }) => {
    const [call] = await world.begin(pay(once), delayed(5 * SECOND, answers(201)));
    const closing = close(once);
    expect(await world.end(tab, call)).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    await world.run(closing);
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('refuses new calls', async ({ world, tab, once }) => {
    await world.run(close(once));
    expect((await world.end(tab, pay(once))).error).toBeInstanceOf(TypeError);
    expect((await world.end(tab, watched(resumeOne(once, NAME)))).response).toBeUndefined();
    expect(world.server.arrivals).toEqual([]);
  });
});

test('extend adds to limits, and an explicit undefined counts as absent', async ({ world }) => {
  const { tab, once } = world.open({ limits: { attempts: 2, totalMs: 5 * SECOND }, whenBusy: 'reject' });
  const more = extend(once, { limits: { attempts: 3 }, whenBusy: undefined });
  world.server.plays(hangs());
  const begun = world.clock.now();
  const [, busy] = await world.all(tab, pay(more), pay(more));
  expect(busy).toMatchObject({ code: 'ERR_ONCE_BUSY' });
  expect(world.clock.now() - begun).toBe(5 * SECOND);
});

test('an event announces each wait with its end and its reason', async ({ world }) => {
  world.random = () => 0.5;
  const { tab, once } = world.open();
  const events: OnceEvent[] = [];
  subscribe(once, (event) => events.push(event));
  world.server.plays(lost(), answers(503, '', { 'retry-after': '3' }), answers(409, '', { 'retry-after': '2' }), answers(201));
  const at = world.clock.now();
  await world.end(tab, pay(once));
  expect(events.filter(({ type }) => type === 'wait')).toMatchObject([
    { why: 'backoff', until: at + 250 },
    { why: 'retry-after', until: at + 3250 },
    { why: 'in-progress', until: at + 5250 },
  ]);
});

describe('a server that says "come back at once", again and again, is not asked hundreds of times', () => {
  /** The most attempts in this time, if waits begin at 50 ms and double up to 1 s. */
  const most = (ms: number): number => 8 + ms / SECOND;

  const SOON: [string, Record<string, string>][] = [
    ['Retry-After: 0', { 'retry-after': '0' }],
    ['Retry-After: 0.001', { 'retry-after': '0.001' }],
    ['retry-after-ms: 1', { 'retry-after-ms': '1' }],
    ['a date that has just passed', { 'retry-after': new Date(0).toUTCString() }],
  ];

  async function count(entry: Entry, options: object = {}): Promise<number> {
    const world = newWorld();
    world.server.otherwise = entry;
    const { tab, once } = world.open({ limits: { totalMs: 2 * MINUTE, inProgressMs: MINUTE, attempts: 1000 }, ...options });
    await world.end(tab, pay(once));
    return world.server.arrivals.length;
  }

  describe.each(SOON)('%s', (_, headers) => {
    test.each([409, 423])('on %i, for work in progress', async (status) => {
      expect(await count(answers(status, { title: 'A request is outstanding' }, headers))).toBeLessThanOrEqual(most(MINUTE));
    });

    test.each([429, 503])('on %i', async (status) => {
      expect(await count(answers(status, undefined, headers), { retry: { budget: false } })).toBeLessThanOrEqual(most(2 * MINUTE));
    });

    test('on the status of work that goes on behind a 202', async () => {
      const status = answers(202, undefined, headers);
      const accepted = charged(answers(202, undefined, { location: '/jobs/1' }));
      expect(await count((arrival, server) => (arrival.method === 'GET' ? status : accepted)(arrival, server), { accepted: 'poll' })).toBeLessThanOrEqual(
        most(MINUTE),
      );
    });

    test('on a plain GET', async ({ world }) => {
      world.server.otherwise = answers(503, undefined, headers);
      const tab = world.tab();
      await world.end(tab, watched(tab.once({ fetch: tab.fetch, limits: { totalMs: MINUTE, attempts: 1000 } }).fetch(URL_)));
      expect(world.server.arrivals.length).toBeLessThanOrEqual(most(MINUTE));
    });
  });

  test('work in progress is not asked about more often if retry.minDelayMs is 0', async () => {
    expect(await count(answers(409), { retry: { minDelayMs: 0, maxDelayMs: 0 } })).toBeLessThanOrEqual(most(MINUTE));
  });

  test('a wait that the server asks for is kept as it is if it is long enough', async ({ world }) => {
    world.server.plays(...Array.from({ length: 10 }, () => answers(409, undefined, { 'retry-after': '1' })), answers(201));
    const { tab, once } = world.open();
    expect((await world.end(tab, pay(once, { operation: NAME }))).status).toBe(201);
    expect(world.server.gaps).toEqual(Array.from({ length: 10 }, () => SECOND));
  });
});
