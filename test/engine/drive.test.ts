/**
 * Goal: between two attempts a driver waits for what it was told to, notices what became of its record, and claims no more about
 * an end than it saw. Method: one change of the record, one reason to wait or one way to stop at a time.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { keyless } from '../../src/dialects/generic.js';
import { type Once, type OnceEvent, type Outcome, resumeOne, subscribe } from '../../src/entries/index.js';
import { made } from '../support/made.js';
import { sealed } from '../support/record.js';
import { answers, charged, during, idle, lost, replays, unreachable } from '../support/server.js';
import { CART, MINUTE, NAME, newWorld, ONE, pay, rest, SECOND, test, URL_, type World, watched } from '../support/world.js';

const NONE = { type: 'rejected', effect: 'none', replayed: false } as const;

test.for<[string, (record: OnceRecord) => unknown, object]>([
  ['is gone', () => null, { code: 'ERR_ONCE_CLAIM_LOST', outcome: { type: 'unknown', reason: 'busy' } }],
  ['is damaged', (record) => ({ ...record, key: 'x' }), { code: 'ERR_ONCE_CLAIM_LOST' }],
  ['has another driver', (record) => sealed({ ...record, revision: record.revision + 1 }), { code: 'ERR_ONCE_CLAIM_LOST' }],
  ['has another key', (record) => sealed({ ...record, key: made('another') }), { code: 'ERR_ONCE_CLAIM_LOST' }],
  [
    'was refused elsewhere',
    (record) => sealed({ ...record, state: 'retired', ending: NONE }),
    { code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'rejected' } },
  ],
  [
    'was ended elsewhere without a stored ending',
    (record) => sealed({ ...record, state: 'retired' }),
    { code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'unknown', reason: 'record' } },
  ],
  [
    'was forgotten elsewhere',
    (record) => sealed({ ...record, state: 'retired', ending: { type: 'unknown', effect: 'unknown', reason: 'record', retryAt: undefined } }),
    { code: 'ERR_ONCE_CLAIM_LOST' },
  ],
  ['is another one that was refused', (record) => sealed({ ...record, key: made('another'), state: 'retired', ending: NONE }), { code: 'ERR_ONCE_CLAIM_LOST' }],
  ['is unchanged', (record) => record, { status: 201 }],
])('what a driver does if its record, between two attempts, %s', async ([_, change, expected], { world, tab, once }) => {
  const [call] = await world.begin(pay(once), lost(), ...('status' in expected ? [answers(201)] : []));
  const record = world.record() as OnceRecord;
  world.medium.set(record.id, change(record));
  expect(await world.end(tab, call)).toMatchObject(expected);
});

test('a resume whose operation is settled by hand between two attempts hears that it is done, also with repeat, and sends nothing more', async ({ world }) => {
  const options = { namespace: 'ann', repeat: 'always', keep: { request: true } } as const;
  const { tab, once } = world.open({ ...options, ...ONE });
  await world.end(tab, pay(once), lost());
  const next = tab.reload();
  const [call] = await world.begin(watched(resumeOne(next.once(options), NAME)), lost());
  const record = world.record() as OnceRecord;
  world.medium.set(record.id, sealed({ ...record, state: 'settled', payloads: ['another'], ending: { type: 'replayed', effect: 'done', from: 'reconcile' } }));
  expect(await world.end(next, call as Promise<never>)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', attempts: 1 } });
  expect(world.server.arrivals).toHaveLength(2);
});

// Fake timers may begin at the time 0.
test.for([
  [undefined, expect.any(Number)],
  [0, 0],
])(
  'a call that slept before its first attempt, while another tab sent another payload at %s and was refused, says that something was sent',
  async ([sentAt, firstSentAt], { world }) => {
    const headers = (): Record<string, string> => {
      const record = world.record() as OnceRecord;
      const first = sentAt === undefined ? {} : { firstSentAt: sentAt };
      world.medium.set(record.id, sealed({ ...record, ...first, revision: record.revision + 1, payloads: ['another'], state: 'retired', ending: NONE }));
      world.clock.jump(MINUTE);
      return {};
    };
    const { tab, once } = world.open({ headers });
    expect(await world.end(tab, pay(once))).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { type: 'rejected', attempts: 0, sent: 'yes', firstSentAt },
    });
  },
);

describe('a wait', () => {
  const waits = (events: readonly OnceEvent[]): unknown[] => events.flatMap((event) => (event.type === 'wait' ? [[event.why, event.until]] : []));
  const listening = (once: Once): OnceEvent[] => {
    const events: OnceEvent[] = [];
    subscribe(once, (event) => void events.push(event));
    return events;
  };

  test('that a server asked for is also kept by the next page, until it is over', async () => {
    for (const [later, expected] of [
      [SECOND, 'retry-after'],
      [9 * SECOND, undefined],
      [20 * SECOND, undefined],
    ] as const) {
      const { world, tab, once } = newWorld().open();
      await world.end(tab, pay(once, ONE), charged(answers(503, '', { 'retry-after': '9' })));
      const until = world.clock.now() + 9 * SECOND;
      await world.clock.advance(later);
      const next = tab.reload().once();
      const events = listening(next);
      await world.end(tab, pay(next), replays());
      expect(waits(events)).toEqual(expected ? [[expected, until]] : []);
    }
  });

  test('for a lost network lasts for limits.offlineWaitMs, and no longer than the call', async () => {
    for (const [limits, ms] of [
      [{}, 3 * SECOND],
      [{ offlineWaitMs: 5 * SECOND }, 5 * SECOND],
      [{ totalMs: 2 * SECOND }, 2 * SECOND],
    ] as const) {
      const world = newWorld();
      world.random = () => 0;
      const { tab, once } = world.open({ limits });
      const events = listening(once);
      world.server.plays(during(() => tab.connect(false), charged(lost())));
      world.server.otherwise = replays();
      const at = world.clock.now();
      await world.end(tab, pay(once));
      expect(waits(events)).toContainEqual(['offline', at + ms]);
    }
  });

  test('for work in progress that was in vain leaves only one attempt to a call within the next minute', async () => {
    for (const [later, sent] of [
      [MINUTE - 1, 1],
      [MINUTE, 2],
    ] as const) {
      const { world, tab, once } = newWorld().open({ limits: { inProgressMs: SECOND } });
      await world.end(tab, pay(once), charged(answers(409, '', { 'retry-after': '2' })));
      await world.clock.advance(later);
      const before = world.server.arrivals.length;
      world.server.otherwise = answers(409, '', { 'retry-after-ms': '600' });
      await world.end(tab, pay(once));
      expect(world.server.arrivals.length - before).toBe(sent);
    }
  });
});

describe('the end of an operation', () => {
  test('that was never sent has no time of a first attempt', async () => {
    const told: Outcome[] = [];
    const world = newWorld();
    const controller = new AbortController();
    const { tab, once } = world.open({
      headers: () => {
        controller.abort();
        return {};
      },
    });
    await world.end(tab, pay(once, { signal: controller.signal, onOutcome: (outcome) => void told.push(outcome) }));
    await rest();
    expect(told).toMatchObject([{ type: 'unsent', firstSentAt: undefined, attempts: 0 }]);
  });

  test('that was sent after a wait has the time of its attempt, not of its record', async ({ world, tab, once }) => {
    tab.online = false;
    world.server.plays(answers(201));
    const call = pay(once);
    await world.clock.advance(SECOND);
    tab.connect(true);
    expect((await world.end(tab, call)).outcome).toMatchObject({ firstSentAt: world.server.arrivals[0]?.at, attempts: 1 });
    expect(world.writes[1]?.durability).toBe('strict');
  });

  test('without a name: the mark before a first attempt that had to wait is written relaxed, like the record', async ({ world, tab, once }) => {
    tab.online = false;
    world.server.plays(answers(201));
    const call = once.fetch(URL_, { method: 'POST', body: '{}' });
    await world.clock.advance(SECOND);
    tab.connect(true);
    await world.end(tab, call);
    expect(world.writes[1]?.durability).toBe('relaxed');
  });

  test('whose mark could not be written before the first attempt says that nothing was sent', async ({ world, tab, once }) => {
    tab.online = false;
    const [call] = await world.begin(pay(once));
    tab.faults.next('fail-before-commit');
    tab.connect(true);
    expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', reason: 'store-write', sent: 'no' } });
    expect(world.server.arrivals).toEqual([]);
  });

  test.for([
    ['did not leave: the answer before it still counts', unreachable(), { status: 429, outcome: { type: 'rejected', sent: 'yes' } }],
    ['got no answer: the answer before it does not count', charged(lost()), { status: undefined, outcome: { reason: 'no-answer', sent: 'yes' } }],
  ] as const)('whose last attempt %s', async ([_, entry, end], { world }) => {
    const { tab, once } = world.open({ limits: { attempts: 2 } });
    expect(await world.end(tab, pay(once), idle(answers(429)), entry)).toMatchObject(end);
  });
});

describe('reconcile', () => {
  const asking = async (play: (world: World, options: object) => Promise<unknown>): Promise<unknown[]> => {
    const asked: { reason: string }[] = [];
    await play(newWorld(), {
      reconcile: async (question: { reason: string }) => {
        asked.push(question);
        return 'unknown';
      },
    });
    return asked.map(({ reason }) => reason);
  };

  test('is asked if the server knows no keys, so that nothing is sent twice', async () => {
    const asked = await asking(async (world, options) => {
      const { tab, once } = world.open({ ...options, dialect: keyless });
      world.keyHeader = 'none';
      await world.end(tab, pay(once, { ...ONE, reconcile: undefined }), charged(lost()));
      await world.end(tab, pay(once));
      expect(world.server.arrivals).toHaveLength(1);
    });
    expect(asked).toContain('no-answer');
  });

  test('is not asked by a call whose user has changed, or whose store has failed', async () => {
    let user = 'ann';
    const logout = asking(async (world, options) => {
      const { tab, once } = world.open({ ...options, namespace: () => user });
      world.server.plays(
        during(() => {
          user = 'bob';
        }, charged(lost())),
      );
      await world.end(tab, pay(once));
    });
    expect(await logout).toEqual([]);
    const store = asking(async (world, options) => {
      const { tab, once } = world.open(options);
      world.server.plays(during(() => tab.faults.next('look-fails'), charged(lost())));
      await world.end(tab, pay(once));
    });
    expect(await store).toEqual([]);
  });
});

test('work behind a link is polled less and less often, as long as the call may take', async ({ world }) => {
  world.random = () => 0.999_999;
  const { tab, once } = world.open({ accepted: 'poll', limits: { inProgressMs: 10 * SECOND, attemptMs: 2 * SECOND } });
  const events: OnceEvent[] = [];
  subscribe(once, (event) => void events.push(event));
  world.server.plays(charged(answers(202, '', { location: '/jobs/1' })), answers(202), answers(202), () => new Promise(() => {}), answers(404), answers(404));
  await world.end(tab, pay(once, { body: CART }));
  expect(world.server.gaps).toEqual([0, 500, 1000, 4000, 4000]);
  expect(new Set(events.flatMap((event) => (event.type === 'wait' ? [event.why] : [])))).toEqual(new Set(['in-progress']));
  expect(world.record(NAME)).toMatchObject({ link: 'https://shop.example/jobs/1', state: 'pending' });
});

test('a call that is aborted between two polls asks no more', async ({ world }) => {
  const { tab, once } = world.open({ accepted: 'poll' });
  const controller = new AbortController();
  const [call] = await world.begin(pay(once, { signal: controller.signal }), charged(answers(202, '', { location: '/jobs/1' })), answers(202));
  controller.abort();
  await world.end(tab, call);
  await world.clock.advance(MINUTE);
  expect(world.server.arrivals).toHaveLength(2);
});
