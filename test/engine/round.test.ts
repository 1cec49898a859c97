/**
 * Goal: a call tells what is stored under its name, asks the server once more for an answer that is gone if that is safe, and replaces a used-up key a few
 * times at most. Method: one kind of record at a time.
 */
import { describe, expect } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { forget, type Once, type Outcome, operation, resumeOne, run, settle } from '../../src/entries/index.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, idle, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, DAY, HOUR, NAME, newWorld, ONE, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const BURNT = answers(500, '', { 'should-retry': 'false' });
const kept = (tab: Tab): number =>
  tab.in(() => (globalThis as unknown as Record<symbol, { payloads: Map<string, unknown> }>)[Symbol.for('oncefetch')]?.payloads.size ?? 0);

describe('keys that are used up', () => {
  test('are replaced until three keys were sent', async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => 'none' });
    const end = await world.end(tab, pay(once), BURNT, BURNT, BURNT);
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { type: 'unknown', reason: 'unavailable', sent: 'maybe' } });
    expect(new Set(world.server.keys).size).toBe(3);
  });

  test('that the caller chose are not replaced, and the error says so', async ({ world }) => {
    const { tab, once } = world.open({ reconcile: async () => 'none' });
    const end = await world.end(tab, pay(once, { key: 'my-own' }), BURNT);
    expect(end).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { type: 'rejected', effect: 'none', sent: 'maybe' } });
    expect(world.server.keys).toEqual(['my-own']);
    expect(await world.end(tab, pay(once, { key: 'my-own' }))).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { type: 'rejected', replayed: true } });
    // The app says that the name stands for another effect, so the key that it chose is sent again.
    await world.run(forget(once, NAME));
    expect((await world.end(tab, pay(once, { key: 'my-own' }), answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });
});

describe('a key strategy that fails when it is asked for the next key, after the first key was refused', () => {
  test.each<[string, () => unknown]>([
    ['it throws', () => Promise.reject(new Error('no key today'))],
    ['it never answers', () => new Promise(() => {})],
    ['it returns no valid key', () => 'no key at all'],
  ])('%s: the call ends with an outcome, and the next one goes on', async (_, fails) => {
    const { world, tab, once } = newWorld().open();
    const end = await world.end(tab, pay(once, { key: ({ generation }) => (generation ? fails() : 'first') as string }), replays(402), answers(201));
    // The refusal may have been kept for an operation whose record is lost, and the next key may be that of an operation that is done.
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'refused-after-ambiguity', sent: 'maybe' } });
    expect((end.error as Error).cause).toBeInstanceOf(Error);
    expect((await world.end(tab, pay(once, { key: ({ generation }) => `key-${generation}` }))).outcome).toMatchObject({ effect: 'done', key: 'key-1' });
  });

  test('another tab pays meanwhile: the call is not told none', async ({ world }) => {
    const [one, two] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    const key = ({ generation }: { generation: number }) => (generation ? world.end(two.tab, pay(two.once)).then(() => 'no key at all') : 'first');
    world.server.plays(replays(402), answers(201));
    expect((await world.end(one.tab, pay(one.once, { key }))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
  });

  test('with run: the call ends in the same way, and the next run goes on', async ({ world, tab, once }) => {
    const refusal = () => Response.json({ code: 'card_declined' }, { status: 402, headers: { 'idempotent-replayed': 'true' } });
    const keys: string[] = [];
    const charge = ({ key }: { readonly key: string }): Response => {
      keys.push(key);
      if (keys.length === 1) return refusal();
      world.server.charged.add(key);
      return Response.json({}, { status: 201 });
    };
    const fails = ({ generation }: { readonly generation: number }) => (generation ? Promise.reject(new Error('no key today')) : 'first');
    const end = await world.end(tab, watched(run(once, NAME, charge as never, { key: fails as never })));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown' } });
    await world.end(tab, watched(run(once, NAME, charge as never, { key: (({ generation }: { generation: number }) => `key-${generation}`) as never })));
    expect(keys).toEqual(['first', 'key-1']);
  });

  test.for(['fails', 'hangs, and the caller leaves'])('reconcile said none: nothing took effect (the strategy %s)', async (how) => {
    const { world, tab, once } = newWorld().open({ limits: { inProgressMs: 1 }, reconcile: async () => 'none' });
    world.server.plays(idle(answers(409, '', { 'retry-after': '1' })));
    const controller = new AbortController();
    const told: Outcome[] = [];
    const fails = () => (how === 'fails' ? Promise.reject(new Error('no key today')) : new Promise<string>(() => controller.abort()));
    let asked = 0;
    const key = () => (asked++ ? fails() : 'first');
    const end = await world.end(tab, pay(once, { key, signal: controller.signal, onOutcome: (said) => void told.push(said) }));
    await rest();
    if (how === 'fails') expect(end.code).toBe('ERR_ONCE_KEY_BURNT');
    expect(told).toMatchObject([{ effect: 'none' }]);
  });
});

test.for<[string, (world: World, tab: Tab) => void, Partial<Outcome>]>([
  ['the record unchanged', () => {}, { type: 'unknown', sent: 'maybe' }],
  ['the record gone', (world) => world.medium.set(world.record()?.id ?? '', null), { type: 'unknown', sent: 'maybe' }],
  ['the record damaged', (world) => world.damage((record) => ({ ...record, key: 'x' })), { type: 'unknown', sent: 'maybe' }],
  ['a store that cannot be read', (_, tab) => tab.faults.rate('look-fails', 1), { type: 'unknown', sent: 'maybe' }],
])('a call that is aborted while it waits for the claim is told unknown, with %s', async ([_, change, outcome], { world, one, two }) => {
  await world.begin(pay(one.once), delayed(SECOND, answers(503)));
  const told: Outcome[] = [];
  const controller = new AbortController();
  const [call] = await world.begin(pay(two.once, { signal: controller.signal, onOutcome: (said) => void told.push(said) }));
  change(world, two.tab);
  controller.abort();
  await world.end(two.tab, call);
  await rest();
  expect(told).toMatchObject([{ reason: 'aborted', ...outcome }]);
  one.tab.kill();
  await world.clock.advance(2 * SECOND);
});

test('the request of an operation in memory is kept as long as the operation is pending', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, ONE), charged(lost()));
  expect(kept(tab)).toBe(1);
  await world.end(tab, pay(once), replays());
  expect(kept(tab)).toBe(0);
  await world.end(tab, pay(once, { operation: ['declined'] }), answers(402));
  expect(kept(tab)).toBe(0);
  // The key stays in use, but the next operation under it lists only its own payload, so this payload is never sent again.
  await world.end(tab, pay(once, { operation: ['refused'] }), answers(422));
  expect(kept(tab)).toBe(0);
});

describe('a remembered answer', () => {
  const REPLAYING = { dialect: { ...GENERIC, replays: true, carrier: 'header:Idempotency-Key+Date' } } as const;
  async function settled(options: object = REPLAYING) {
    const world = newWorld();
    const first = world.open(options);
    const { outcome } = await world.end(first.tab, pay(first.once), answers(201, { id: 'ch_1' }));
    await world.clock.advance(HOUR);
    return { world, key: outcome?.key, next: (more: object = {}) => world.open({ ...options, ...more }), firstSentAt: outcome?.firstSentAt ?? 0 };
  }

  test('that is gone is asked for once more, under its key, and then remembered', async () => {
    const { world, key, next, firstSentAt } = await settled();
    const hooks: unknown[] = [];
    const { tab, once } = next({
      headers: (asked: { attempt: number; resumed: boolean }) => void hooks.push([asked.attempt, asked.resumed]),
      verdict: (asked: { ambiguous: boolean }) => void hooks.push(asked.ambiguous),
    });
    world.server.plays(replays());
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'server', key, attempts: 1, resumed: true } });
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'memory', attempts: 0, resumed: true } });
    expect(hooks).toEqual([[1, true], true]);
    expect(world.server.arrivals[1]?.headers.get('date')).toBe(new Date(firstSentAt).toUTCString());
  });

  test.each([
    ['a refusal', answers(402)],
    ['a 503', answers(503)],
    ['no answer', lost()],
  ])('that is gone stays gone if the server gives %s now, and the operation stays settled', async (_, entry) => {
    const { world, next } = await settled();
    const { tab, once } = next();
    world.server.plays(entry);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', from: 'store', attempts: 0 } });
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test.each([
    [{ totalMs: HOUR, attemptMs: SECOND }, SECOND],
    [{ totalMs: 2 * SECOND, attemptMs: HOUR }, 2 * SECOND],
  ])('that is gone is waited for as long as an attempt may take: %j', async (limits, ms) => {
    const { world, next } = await settled({ dialect: { ...GENERIC, replays: true, windowMs: 3 * DAY } });
    const { tab, once } = next();
    expect(await world.end(tab, pay(once, { limits }), () => new Promise(() => {}))).toMatchObject({ ms });
  });

  test('that is gone is not asked for past the key window, at a server that does not replay, or without a request to send', async () => {
    const { world, next } = await settled();
    const { tab, once } = next();
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    await world.clock.advance(DAY);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { from: 'store' } });
    const plain = await settled({});
    const other = plain.next();
    expect(await plain.world.end(other.tab, pay(other.once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    expect([world.server.arrivals.length, plain.world.server.arrivals.length]).toEqual([1, 1]);
  });

  test.for<[string, (world: World, tab: Tab, once: Once) => Promise<unknown>]>([
    ['by hand', (world, _, once) => world.run(settle(once, NAME, 'done'))],
    [
      'by reconcile',
      (world, tab, once) => {
        return world.end(tab, pay(once, { reconcile: async () => 'done' }), answers(402));
      },
    ],
  ])('is not asked for if an app said that the operation is done, %s: the key may be new to the server', async ([_, say], { world }) => {
    const { tab, once } = world.open(REPLAYING);
    await world.end(tab, pay(once, { limits: { attempts: 1 } }), lost());
    await say(world, tab, once);
    const sent = world.server.arrivals.length;
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(sent);
  });

  test('is not asked for by a call that waited for a refusal', async ({ world }) => {
    const [one, two] = [world.open(REPLAYING), world.open(REPLAYING)];
    const [first] = await world.begin(pay(one.once), delayed(SECOND, answers(402)));
    const second = pay(two.once);
    await world.end(one.tab, first);
    expect(await world.end(two.tab, second)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'rejected', resumed: true } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test("is in memory in its own page, and on disk with response: 'disk'", async ({ world }) => {
    const options = { namespace: 'ann', keep: { response: 'disk' } } as const;
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once), answers(201, { id: 'ch_1' }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ from: 'memory' });
    const next = world.open(options);
    const end = await world.end(next.tab, pay(next.once));
    expect(end).toMatchObject({ status: 201, outcome: { type: 'replayed', from: 'store' } });
    expect(await end.response?.json()).toEqual({ id: 'ch_1' });
  });
});

describe('a call that drives nothing', () => {
  test('with another payload or key is told what is pending under the name', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    for (const more of [{ body: { ...CART, amount: 20 }, whenChanged: 'refuse' }, { key: 'my-own' }] as const) {
      const end = await world.end(tab, pay(once, more));
      expect(end).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { type: 'unknown', reason: 'mismatch', sent: 'maybe', resumed: true } });
      expect(operation(once, NAME).state).toMatchObject({ phase: 'unsettled' });
    }
    world.damage((record) => sealed({ ...record, ambiguous: false }));
    expect((await world.end(tab, pay(once, { key: 'my-own' }))).outcome).toMatchObject({ sent: 'no' });
  });

  test('is told unknown if the operation that it waited for is retired without an ending', async ({ world, one, two }) => {
    await world.begin(pay(one.once), delayed(SECOND, answers(503)));
    const [second] = await world.begin(pay(two.once));
    one.tab.kill();
    world.damage((record) => sealed({ ...record, state: 'retired' }));
    expect(await world.end(two.tab, second)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'unknown', reason: 'record' } });
  });
});
