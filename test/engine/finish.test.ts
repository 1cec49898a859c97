/**
 * Goal: for every way in which a call can end, the end is stored, told and remembered as it was. `reconcile` is asked about what
 * is not known and nothing more, and is waited for no longer than its caller waits. Method: one way to end at a time, with all
 * that it leaves.
 */
import { getEventListeners } from 'node:events';
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { gocardless, stripe } from '../../src/entries/dialects.js';
import { derived, type Reconcile, resumeOne, run, subscribe } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, doneElsewhere, during, idle, lost, replays, unreachable } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, NAME, newWorld, ONE, pay, rest, SECOND, saying, test, watched } from '../support/world.js';

const OTHER = { ...CART, amount: 20 };
const ACCEPTED = answers(202, '', { location: '/jobs/1' });
const causeOf = (error: unknown): unknown => (error as Error).cause;
/** The number of answers that this tab keeps in its memory. */
const kept = (tab: Tab): number =>
  tab.in(() => (globalThis as unknown as Record<symbol, { answers: Map<string, unknown> }>)[Symbol.for('oncefetch')]?.answers.size ?? 0);

test('an answer that leaves the memory of the page, because 32 came after it, is let go at once', async ({ world, tab, once }) => {
  await world.end(tab, pay(once), answers(201));
  const [first] = tab.in(() => [
    ...((globalThis as unknown as Record<symbol, { answers: Map<string, unknown[]> }>)[Symbol.for('oncefetch')]?.answers.values() ?? []),
  ]);
  expect(first).toHaveLength(1);
  for (let n = 0; n < 32; n++) await world.end(tab, pay(once, { operation: ['other', n] }), answers(201));
  expect(kept(tab)).toBe(32);
  // V8 may keep the box itself until its next full collection.
  expect(first).toEqual([]);
});

describe('what is stored of an answer', () => {
  test.for<[string, object, object, boolean]>([
    ['a page with a namespace', { namespace: 'ann' }, {}, true],
    ['a page without a namespace', {}, {}, false],
    ['a server without a namespace', {}, { server: true }, true],
    ['a server with a namespace', { namespace: 'ann' }, { server: true }, true],
  ])('on %s: %j %j %s', async ([_, options, of, stored], { world }) => {
    const { tab, once } = world.open({ ...options, keep: { response: 'disk' } }, of);
    await world.end(tab, pay(once), answers(201, { id: 'ch_1' }));
    expect(world.record()?.answer !== undefined).toBe(stored);
  });

  test('is nothing if the app does not ask for it, and nothing of a refusal', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    await world.end(tab, pay(once), answers(201));
    expect(world.record()?.answer).toBeUndefined();
    const operation = ['pay', 'refused'];
    await world.end(tab, pay(once, { operation, keep: { response: 'disk' } }), answers(402));
    expect(world.record(operation)).toMatchObject({ state: 'retired', sticky: false, answer: undefined });
  });

  test('is nothing if the answer belongs to an earlier payload', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann', keep: { response: 'disk' } });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(await world.end(tab, pay(once, { body: OTHER }), replays())).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { type: 'replayed', from: 'server' },
    });
    expect(world.record()).toMatchObject({ state: 'settled', answer: undefined });
    expect(kept(tab)).toBe(0);
  });
});

test.for<[string, object, Parameters<typeof answers>, number]>([
  ['an answer', {}, [201, {}], 1],
  ['no answer, if none is to be kept', { keep: { response: false } }, [201, {}], 0],
  ['no answer that was too long to be read', { limits: { bodyBytes: 4 } }, [201, 'too long'], 0],
  ['no refusal', {}, [402], 0],
])('what stays in memory is %s', async ([_, options, answer, count], { world }) => {
  const { tab, once } = world.open(options);
  await world.end(tab, pay(once), answers(...answer));
  expect(kept(tab)).toBe(count);
});

describe('an end without effect', () => {
  test('of a function given to run is its own error, and an event like any other end', async ({ world, tab, once }) => {
    const told: unknown[] = [];
    subscribe(once, (event) => void told.push(event.type));
    const own = new Error('card declined');
    const end = await world.end(tab, watched(run(once, NAME, () => Promise.reject(own), { verdict: () => 'rejected' }) as Promise<never>));
    expect(end.error).toBe(own);
    expect(told).toContain('settled');
  });

  test('of a clean record that another page left removes the record', async ({ world }) => {
    const tab = await pressOffline(world.tab(), (page) => pay(page.once()));
    world.server.plays(unreachable());
    expect(await world.end(tab, pay(tab.once(), ONE))).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', reason: 'unreachable' } });
    expect(world.record()).toBeUndefined();
  });

  test('of a resume whose user is still there removes the record, too', async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    const tab = await pressOffline(world.tab(), (page) => pay(page.once(options)));
    const call = watched(resumeOne(tab.once({ ...options, ...ONE }), NAME)) as Promise<never>;
    expect(await world.end(tab, call, unreachable())).toMatchObject({ outcome: { type: 'unsent', effect: 'none' } });
    expect(world.record()).toBeUndefined();
  });

  test('is told as unknown if it cannot be stored', async ({ world, tab, once }) => {
    world.server.plays(during(() => tab.faults.next('fail-before-commit'), unreachable()));
    const end = await world.end(tab, pay(once, ONE));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { type: 'unknown', reason: 'store' } });
    expect(causeOf(end.error)).toBeInstanceOf(Error);
  });
});

test('a refusal by a function given to run that cannot be stored is unknown, and its cause is what the function threw', async ({ world, tab, once }) => {
  const own = new Error('card declined');
  const effect = () => {
    tab.faults.next('fail-before-commit');
    return Promise.reject(own);
  };
  const end = await world.end(tab, watched(run(once, NAME, effect, { verdict: () => 'rejected' }) as Promise<never>));
  expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'store' } });
  expect(causeOf(end.error)).toBe(own);
});

describe('an unknown end', () => {
  test('without an answer speaks of no other payload', async ({ world, tab, once }) => {
    expect(String((await world.end(tab, pay(once, ONE), charged(lost()))).error)).not.toMatch(/another payload/);
  });

  test('is one write, which takes back that an attempt may be on its way, and notes what the server said; without others on the store only that', async ({
    world,
    tab,
    once,
  }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(world.writes).toHaveLength(2);
    expect(world.record()?.lease).toBeUndefined();
    await world.end(tab, pay(once, { ...ONE, operation: ['later'] }), charged(answers(503, '', { 'retry-after': '9' })));
    expect(world.writes).toHaveLength(4);
    const alone = world.open({}, { claims: { shared: 'context' } });
    await world.end(alone.tab, pay(alone.once, { ...ONE, operation: ['alone'] }), charged(lost()));
    expect(world.writes).toHaveLength(5);
  });

  test('after a store that failed between two attempts is an error of the store', async ({ world, tab, once }) => {
    const end = await world.end(tab, pay(once), charged(during(() => tab.faults.next('look-fails'), lost())));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', reason: 'store' } });
    expect(causeOf(end.error)).toMatchObject({ reason: 'io' });
  });

  test('because of another payload under the key never says that nothing was sent', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    const end = await world.end(tab, pay(once, { body: OTHER }), answers(422, { title: 'Idempotency-Key is already used' }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown', reason: 'mismatch', key } });
    expect(String(end.error)).not.toMatch(/nothing was sent/);
    expect((end.error as { response?: Response }).response?.status).toBe(422);
    expect(tab.reported).toEqual([]);
  });
});

describe('an earlier payload under the key', () => {
  const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });

  test('that is refused for good makes way for the present one, under another key', async ({ world, tab, once }) => {
    const before: unknown[] = [];
    world.server.plays(
      lost(),
      idle(MISMATCH),
      replays(402, {}),
      during(() => before.push(world.record()?.previous), answers(201)),
    );
    await world.end(tab, pay(once, ONE));
    expect(await world.end(tab, pay(once, { body: OTHER }))).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
    expect(before).toMatchObject([{ state: 'retired', sticky: true, ending: { type: 'rejected', replayed: true } }]);
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('is not sent again for a caller who left', async ({ world, tab, once }) => {
    const controller = new AbortController();
    await world.end(tab, pay(once, ONE), charged(lost()));
    await world.end(tab, pay(once, { body: OTHER, signal: controller.signal }), idle(during(() => controller.abort(), MISMATCH)));
    await rest();
    expect(world.server.arrivals).toHaveLength(2);
    expect(tab.reported).toEqual([]);
  });
});

describe('work behind a link', () => {
  test('that goes on until the time for waiting is over ends with the accepted answer, and the record notes that this time is used up', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll', limits: { inProgressMs: SECOND } });
    const end = await world.end(tab, pay(once), charged(ACCEPTED), answers(202, '', { 'retry-after': '3' }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'in-progress' } });
    expect((end.error as { response?: Response }).response?.status).toBe(202);
    expect(world.record()).toMatchObject({ spentAt: world.clock.now() });
  });

  test('that goes on until the time for waiting is over leads to a question to reconcile', async ({ world }) => {
    const asked: { reason?: string; response?: Response }[] = [];
    const { tab, once } = world.open({ accepted: 'poll', limits: { inProgressMs: SECOND }, reconcile: saying(asked, 'done' as const) });
    world.server.plays(charged(ACCEPTED), answers(202, '', { 'retry-after': '3' }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', from: 'reconcile' });
    expect(asked).toMatchObject([{ reason: 'in-progress', response: { status: 202 } }]);
  });

  test('that failed is refused for good', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll', dialect: { ...GENERIC, polled: () => 'failed' } });
    expect((await world.end(tab, pay(once), idle(ACCEPTED), answers(200, {}, { 'idempotent-replayed': 'true' }))).outcome).toMatchObject({ type: 'rejected' });
    expect(world.record()).toMatchObject({ state: 'retired', sticky: true });
  });
});

describe('reconcile', () => {
  const asking = (said: Awaited<ReturnType<Reconcile>>) => {
    const asked: Parameters<Reconcile>[0][] = [];
    return { asked, reconcile: saying(asked, said) as Reconcile };
  };

  test('is not asked about a known end', async () => {
    const { asked, reconcile } = asking('none');
    const { world, tab, once } = newWorld().open({ reconcile });
    expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(tab, pay(once, { operation: ['other'] }), answers(402))).outcome).toMatchObject({ type: 'rejected' });
    expect(asked).toEqual([]);
  });

  test('is told since when the outcome is unknown, why, and what the answer was', async () => {
    const { asked, reconcile } = asking('unknown');
    const { world, tab, once } = newWorld().open({ reconcile });
    tab.online = false;
    world.server.plays(charged(lost()), answers(402, { a: 1 }));
    const call = pay(once);
    await world.clock.advance(SECOND);
    tab.connect(true);
    await world.end(tab, call);
    expect(asked).toMatchObject([{ operation: NAME, reason: 'refused-after-ambiguity', firstSentAt: world.server.arrivals[0]?.at, response: { status: 402 } }]);
    expect(await asked[0]?.response?.json()).toEqual({ a: 1 });
  });

  test('is told that the operation is done elsewhere; if it does not know, the operation is done all the same', async () => {
    const { asked, reconcile } = asking('unknown');
    const { world, tab, once } = newWorld().open({ reconcile, dialect: gocardless() });
    world.server.plays(charged(doneElsewhere()));
    const end = await world.end(tab, pay(once));
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', error: { resource: 'PM1' }, outcome: { type: 'replayed', from: 'elsewhere' } });
    expect(asked).toMatchObject([{ reason: 'done-elsewhere' }]);
    // The server may execute a key that it has never seen, so a power cut must not lose the record.
    expect(world.writes.at(-1)).toMatchObject({ next: { state: 'settled' }, durability: 'strict' });
  });

  test('knows nothing, and the store fails to note that the operation is done elsewhere: the outcome is unknown, because the next call sends again', async ({
    world,
  }) => {
    const { asked, reconcile } = asking('unknown');
    const { tab, once } = world.open({ reconcile, dialect: gocardless() });
    world.server.plays(charged(during(() => tab.faults.next('fail-before-commit'), doneElsewhere())));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'unknown', effect: 'unknown', reason: 'store' });
    expect(asked).toHaveLength(1);
  });

  test('A15: is asked which payload a 2xx is about; only a Response changes the outcome, which is done, and nothing is sent under another key', async () => {
    for (const said of ['none', 'unknown', 'done', Response.json({ id: 'ch_1' })] as const) {
      const { asked, reconcile } = asking(said);
      const { world, tab, once } = newWorld().open({ reconcile });
      await world.end(tab, pay(once, ONE), charged(lost()));
      const { outcome } = await world.end(tab, pay(once, { body: OTHER }), answers(201));
      expect(asked).toMatchObject([{ reason: 'mismatch' }]);
      expect(outcome).toMatchObject(typeof said === 'object' ? { type: 'replayed', from: 'reconcile' } : { type: 'fresh', certain: false, changed: true });
      expect((await world.end(tab, pay(once, { body: OTHER }))).outcome).toMatchObject({ effect: 'done' });
      expect(world.server.arrivals).toHaveLength(2);
    }
  });

  test.for([
    ['if-changed', undefined],
    ['always', undefined],
    ['always', derived],
  ] as const)(
    "'done' of the only payload under a key, about which the server speaks of another one, perhaps of a copy that left unseen: with repeat %s, too, it is done",
    async ([repeat, key], { world }) => {
      const { tab, once } = world.open({ repeat, reconcile: async () => 'done', dialect: stripe(), ...ONE }, { resends: true });
      const used = answers(400, { error: { type: 'idempotency_error' } });
      expect((await world.end(tab, pay(once, key && { key }), charged(used))).outcome).toMatchObject({ type: 'replayed', from: 'reconcile' });
      expect(world.server.arrivals).toHaveLength(1);
    },
  );

  test.for(['if-changed', 'always'] as const)(
    "'done' of a form whose record is lost, while an edited form meets its derived key: with repeat %s the edited form is not told done before it is sent",
    async (repeat, { world }) => {
      const options = { repeat, dialect: stripe(), ...ONE } as const;
      const { tab, once } = world.open(options);
      const lostOne = await world.end(tab, pay(once, { key: derived }), charged(lost()));
      world.medium.set(world.record()?.id as string, null);
      const next = tab.reload();
      const used = answers(400, { error: { type: 'idempotency_error' } });
      const edited = pay(next.once({ ...options, reconcile: async () => 'done' }), { key: derived, body: OTHER });
      const end = await world.end(next, edited, used, charged(answers(201)));
      expect(end.outcome).toMatchObject({ type: 'fresh', effect: 'done' });
      expect(end.outcome?.key).not.toBe(lostOne.outcome?.key);
    },
  );

  test("'done' is stored as coming from reconcile", async () => {
    const { reconcile } = asking('done');
    const { world, tab, once } = newWorld().open({ reconcile });
    world.server.plays(charged(lost()), answers(401));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { type: 'replayed', from: 'reconcile' } });
    expect(world.record()).toMatchObject({ state: 'settled', ending: { type: 'replayed', from: 'reconcile' } });
  });

  test("'done' that could not be stored is done; if the record is another's by then, the effect is unknown", async () => {
    for (const [change, outcome, code] of [
      [undefined, { effect: 'done', from: 'reconcile' }, 'ERR_ONCE_ALREADY_DONE'],
      [(record: OnceRecord) => ({ ...record, key: 'another' }), { effect: 'unknown', reason: 'busy' }, 'ERR_ONCE_CLAIM_LOST'],
    ] as const) {
      const world = newWorld();
      const { tab, once } = world.open({
        reconcile: async () => {
          if (change) world.damage(change);
          else tab.faults.next('fail-before-commit');
          return 'done';
        },
      });
      const end = await world.end(tab, pay(once), charged(lost()), answers(401));
      expect(end).toMatchObject({ code, outcome });
      expect((end.error as { response?: Response }).response?.status).toBe(401);
    }
  });

  test("'none' that could not be stored is unknown", async ({ world }) => {
    const { tab, once } = world.open({
      reconcile: async () => {
        tab.faults.next('fail-before-commit');
        return 'none';
      },
    });
    expect(await world.end(tab, pay(once), lost(), answers(401))).toMatchObject({ status: 401, outcome: { type: 'unknown', reason: 'store' } });
  });

  test("'none' after a refusal gives that refusal, and does not use up its key", async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => 'none' });
    expect(await world.end(tab, pay(once), lost(), answers(402))).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none' } });
    expect(world.record()).toMatchObject({ state: 'retired', sticky: false });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test.for(['', '<!doctype html>'])(
    "'none' after a refusal that may hide an effect gives that refusal, and nothing more is sent: %j",
    async (body, { world }) => {
      const { tab, once } = world.open({ reconcile: async () => 'none' });
      const end = await world.end(tab, pay(once), answers(408, body, { 'should-retry': 'false' }));
      expect(end).toMatchObject({ status: 408, outcome: { type: 'rejected', effect: 'none' } });
    },
  );

  test("'none' about a burnt key goes on under another one", async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => 'none' });
    const before: unknown[] = [];
    world.server.plays(
      answers(500, '', { 'should-retry': 'false' }),
      during(() => before.push(world.record()?.previous), answers(201)),
    );
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
    expect(before).toMatchObject([{ sticky: true, ending: { type: 'rejected' } }]);
  });

  test("'none' to a resume that has nothing to send ends it, with an error", async ({ world }) => {
    await world.interrupted(lost());
    const { tab, once } = world.open({ reconcile: async () => 'none' });
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'rejected' } });
  });

  test('is asked about a function given to run, too, which has no HTTP answer', async () => {
    const { asked, reconcile } = asking('done');
    const { world, tab, once } = newWorld().open({ reconcile, limits: { inProgressMs: 0 } });
    const call = run(once, NAME, async () => 'half of it', { verdict: () => 'in-progress' }) as Promise<never>;
    expect((await world.end(tab, watched(call))).outcome).toMatchObject({ effect: 'done', from: 'reconcile' });
    expect(asked).toMatchObject([{ reason: 'in-progress', response: undefined }]);
    expect(tab.reported).toEqual([]);
  });

  test('is given up when its caller leaves, or when its time is over, and leaves nothing behind', async () => {
    for (const leaves of [true, false]) {
      const signals: AbortSignal[] = [];
      const world = newWorld();
      const { tab, once } = world.open({
        reconcile: ({ signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      });
      const controller = new AbortController();
      world.server.plays(charged(lost()), answers(401));
      const call = pay(once, { signal: controller.signal });
      await world.clock.advance(SECOND);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      if (leaves) controller.abort();
      const end = await world.end(tab, call);
      await rest();
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(end.outcome).toMatchObject({ effect: 'unknown' });
      expect(world.clock.pending).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    }
  });

  test('leaves no timer once it has answered', async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => 'unknown' });
    await world.end(tab, pay(once), charged(lost()), answers(401));
    expect(world.clock.pending).toBe(0);
  });
});
