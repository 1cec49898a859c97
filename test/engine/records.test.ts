/**
 * Goal: the functions that list and change stored operations leave exactly what they say in the store, in memory and on screens, and change nothing else.
 * Method: records of every state, alone and by the hundred, and records that change while a function looks at them.
 */
import { describe, expect } from 'vitest';
import { encodeName } from '../../src/core/name.js';
import type { OnceRecord } from '../../src/core/record.js';
import {
  clear,
  derived,
  extend,
  forget,
  type Once,
  type OnceEvent,
  type OperationName,
  operation as operationOf,
  pending,
  resumeOne,
  settle,
  subscribe,
} from '../../src/entries/index.js';
import { defaultMemoryStore } from '../../src/stores/memory.js';
import { made } from '../support/made.js';
import { pressOffline } from '../support/press-offline.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, idle, lost, replays, textOf } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { DAY, HOUR, MINUTE, NAME, ONE, type PayOptions, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const ANN = { namespace: 'ann' } as const;

interface Tables {
  readonly answers: Map<string, unknown>;
  readonly payloads: Map<string, unknown>;
}
const tables = (tab: Tab): Tables => tab.in(() => (globalThis as unknown as Record<symbol, Tables>)[Symbol.for('oncefetch')] as Tables);

async function left(world: World, { tab, once }: { tab: Tab; once: Once }, operation: OperationName = NAME): Promise<void> {
  await world.end(tab, pay(once, { ...ONE, operation }), charged(lost()));
}
async function done(world: World, { tab, once }: { tab: Tab; once: Once }, operation: OperationName = NAME): Promise<void> {
  await world.end(tab, pay(once, { operation }), answers(201, {}));
}

/** Copies the only record under other names. */
function multiply(world: World, times: number, change: (record: OnceRecord) => OnceRecord = (one) => one): void {
  const one = world.record() as OnceRecord;
  for (let n = 0; n < times; n++) world.medium.set(`copy-${n}`, sealed(change({ ...one, id: made(`copy-${n}`), label: encodeName(['copy', n]) })));
}

/** Changes what is stored right before the next update looks at it. */
function meanwhile(tab: Tab, change: () => void): void {
  const { update } = tab.store;
  const first: typeof update = (...call) => {
    Object.assign(tab.store, { update });
    change();
    return update(...call);
  };
  Object.assign(tab.store, { update: first });
}

describe('pending', () => {
  test('lists as many as `limit` allows, which is at least 1 and 100 by default', async ({ world, one }) => {
    await left(world, one);
    multiply(world, 249);
    expect(await world.run(pending(one.once, { limit: 1 }))).toHaveLength(1);
    expect(await world.run(pending(one.once, { limit: 2 }))).toHaveLength(2);
    expect(await world.run(pending(one.once))).toHaveLength(100);
    expect(await world.run(pending(one.once, { limit: 500 }))).toHaveLength(250);
    await expect(world.run(pending(one.once, { limit: 0 }))).rejects.toThrow(/limit must be at least 1, got 0/);
  });

  test('says of each operation, named or not, whether this page has its request', async ({ world, one }) => {
    await left(world, one);
    await world.end(one.tab, extend(one.once, ONE).fetch('https://shop.example/other', { method: 'POST', body: '{}' }), charged(lost()));
    expect((await world.run(pending(one.once))).map(({ resumable }) => resumable)).toEqual([true, true]);
    expect((await world.run(pending(world.open().once))).map(({ resumable }) => resumable)).toEqual([false, false]);
  });

  test('lists what could be kept only in memory once, to every client of the same store', async ({ world, tab, once }) => {
    tab.faults.next('fail-before-commit');
    await left(world, { tab, once });
    for (const client of [once, extend(once, ONE), tab.once()]) expect(await world.run(pending(client))).toMatchObject([{ name: NAME }]);
    expect(await world.run(pending(tab.in(() => tab.once({ store: defaultMemoryStore() }))))).toEqual([]);
    expect((await world.run(clear(tab.once(), { unsettled: 'forget' }))).kept).toMatchObject([{ name: NAME }]);
    expect(await world.run(pending(once))).toEqual([]);
  });

  test('skips damaged records, and tells of each once', async ({ world, one }) => {
    await left(world, one);
    multiply(world, 2, (record) => record);
    world.medium.set('copy-0', { ...(world.medium.get('copy-0') as OnceRecord), key: 'x' });
    const heard: OnceEvent[] = [];
    subscribe(one.once, (event) => heard.push(event));
    for (let times = 0; times < 2; times++) expect((await world.run(pending(one.once))).map(({ name }) => name)).toEqual([['copy', 1], NAME]);
    expect(heard).toMatchObject([{ type: 'diagnostic', code: 'record-damaged', message: expect.stringContaining('["copy",0]') }]);
  });

  test.for<[string, OperationName, string[]]>([
    ['of its name', ['copy'], ['record-damaged']],
    ['of its whole name', ['copy', 0], ['record-damaged']],
    ['of another name', ['pay'], []],
    ['that only looks alike', ['cop'], []],
  ])('tells the listener of a prefix %s of a damaged record if it is one of that prefix', async ([, prefix, codes], { world, one }) => {
    await left(world, one);
    multiply(world, 1, (record) => record);
    world.medium.set('copy-0', { ...(world.medium.get('copy-0') as OnceRecord), key: 'x' });
    const heard: OnceEvent[] = [];
    subscribe(one.once, (event) => heard.push(event), { prefix });
    expect((await world.run(pending(one.once))).map(({ name }) => name)).toEqual([NAME]);
    expect(heard.map((event) => event.type === 'diagnostic' && event.code)).toEqual(codes);
  });
});

describe('clear', () => {
  test('keeps the keys of unsettled operations, stops their drivers, and leaves nothing personal to read', async ({ world }) => {
    const one = world.open({ ...ANN, keep: { request: true, response: 'disk' } });
    const [unsettled, settled] = [operationOf(one.once, NAME), operationOf(one.once, ['done'])];
    void [unsettled.state, settled.state];
    await world.end(one.tab, pay(one.once, { ...ONE, meta: { total: 5 } }), charged(answers(503, '', { 'retry-after': '9' })));
    await done(world, one, ['done']);
    const before = world.record() as OnceRecord;
    const { kept } = await world.run(clear(one.once));
    expect(kept).toMatchObject([{ name: NAME, key: before.key, retryAt: before.retryAt, meta: undefined, resumable: false }]);
    const after = world.record();
    expect(after).toMatchObject({ key: before.key, revision: before.revision + 1, state: 'pending', retryAt: before.retryAt });
    expect([after?.request, after?.meta]).toEqual([undefined, undefined]);
    // Calls in another tab may wait for this record, so it stays, without its answer.
    expect(world.record(['done'])).toMatchObject({ state: 'settled', forgetAt: world.clock.now() + 2 * MINUTE });
    expect(world.record(['done'])?.answer).toBeUndefined();
    expect(unsettled.state).toMatchObject({ phase: 'unsettled', pending: { key: before.key } });
    expect(settled.state).toEqual({ phase: 'idle' });
    expect([tables(one.tab).answers.size, tables(one.tab).payloads.size]).toEqual([0, 0]);
  });

  test("forgets unsettled operations, too, with unsettled: 'forget'", async ({ world, one }) => {
    const operation = operationOf(one.once, NAME);
    await left(world, one);
    expect((await world.run(clear(one.once, { unsettled: 'forget' }))).kept).toMatchObject([{ name: NAME }]);
    expect(world.record()).toBeUndefined();
    expect(operation.state).toEqual({ phase: 'idle' });
  });

  test('touches nothing of other users, in store or memory', async ({ world }) => {
    const ann = world.open(ANN);
    const bob = { tab: ann.tab, once: ann.tab.once({ namespace: 'bob' }) };
    await done(world, ann, ['done']);
    await left(world, bob);
    await done(world, bob, ['his']);
    const revision = world.record()?.revision;
    expect((await world.run(clear(ann.once))).kept).toEqual([]);
    expect(world.record()?.revision).toBe(revision);
    expect(world.record(['his'])).toMatchObject({ state: 'settled' });
    expect([tables(ann.tab).answers.size, tables(ann.tab).payloads.size]).toEqual([1, 1]);
  });

  test('reaches all records, and skips damaged ones', async ({ world, one }) => {
    await done(world, one);
    multiply(world, 230, (record) => sealed({ ...record, state: Number(record.id.slice(5)) % 2 ? 'settled' : 'retired' }));
    world.medium.set('copy-7', { ...(world.medium.get('copy-7') as OnceRecord), key: 'x' });
    await world.clock.advance(2 * MINUTE);
    await world.run(clear(one.once));
    const rest_ = Array.from({ length: 230 }, (_, n) => `copy-${n}`).filter((id) => world.medium.get(id) !== undefined);
    expect(rest_).toEqual(['copy-7']);
    expect(world.record()).toBeUndefined();
  });

  test('removes what ended while it looked, and does not list it as kept', async ({ world, one }) => {
    await left(world, one);
    meanwhile(one.tab, () => world.damage((record) => sealed({ ...record, state: 'retired' })));
    expect((await world.run(clear(one.once))).kept).toEqual([]);
    expect(world.record()).toBeUndefined();
  });

  test('leaves alone an operation that began again while it looked', async ({ world, one }) => {
    await done(world, one);
    meanwhile(one.tab, () => world.damage((record) => sealed({ ...record, state: 'pending' })));
    await world.run(clear(one.once));
    expect(world.record()).toMatchObject({ state: 'pending' });
    meanwhile(one.tab, () => world.medium.set((world.record() as OnceRecord).id, null));
    expect((await world.run(clear(one.once))).kept).toEqual([]);
    expect(world.record()).toBeUndefined();
  });
});

test('clear skips a record that vanished while it looked', async ({ world, one }) => {
  await done(world, one);
  meanwhile(one.tab, () => world.medium.set((world.record() as OnceRecord).id, null));
  expect((await world.run(clear(one.once))).kept).toEqual([]);
});

describe('settle', () => {
  test("'done' writes a tombstone strictly, for as long as others are kept", async ({ world, one }) => {
    await left(world, one);
    const now = world.clock.now();
    const operation = operationOf(one.once, NAME);
    await world.run(settle(one.once, operation.name, 'done'));
    expect(world.record()).toMatchObject({
      state: 'settled',
      ending: { type: 'replayed', from: 'reconcile' },
      settledAt: now,
      touchedAt: now,
      forgetAt: now + 30 * DAY,
    });
    expect(world.writes.at(-1)?.durability).toBe('strict');
    expect(operation.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  });

  test("'none' retires the record, for as long as a call may wait for it", async ({ world, one }) => {
    await left(world, one);
    const now = world.clock.now();
    await world.run(settle(one.once, NAME, 'none'));
    expect(world.record()).toMatchObject({ state: 'retired', ending: { type: 'rejected', effect: 'none' }, forgetAt: now + 2 * MINUTE });
  });

  test.for([
    { where: 'before it has the lock', of: {}, crossing: 1 },
    { where: 'with the lock, for which nobody waits for ever', of: {}, crossing: 3 },
    { where: 'before it reads the record, without locks', of: { server: true, locks: false }, crossing: 1 },
  ])("'none' from a context that freezes $where ends nothing that another context has sent since", async ({ of, crossing }, { world }) => {
    const [app, other] = [world.open({}, of), world.open({}, of)];
    await world.end(other.tab, pay(other.once, { limits: { attempts: 1 } }), lost());
    app.tab.at(crossing, () => app.tab.freeze());
    const word = watched(settle(app.once, NAME, 'none'));
    await world.clock.advance(2 * SECOND);
    expect((await world.end(other.tab, pay(other.once, { limits: { attempts: 1 } }), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    app.tab.thaw();
    await expect(world.run(word)).rejects.toThrow();
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test("'none' counts although the store takes seconds, if nobody has sent the operation since", async ({ world, one }) => {
    await left(world, one);
    await world.clock.advance(MINUTE);
    one.tab.faults.next({ name: 'slow', ms: 2 * SECOND });
    await world.run(settle(one.once, NAME, 'none'));
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test("'done' under a key that the app can give again is kept for as long as the server knows the key, also by a client that does not know how long", async ({
    world,
    one,
    two,
  }) => {
    await world.end(one.tab, pay(one.once, { key: 'order-42', limits: { attempts: 1, keyWindowMs: 90 * DAY } }), charged(lost()));
    const windowEndsAt = world.record()?.windowEndsAt ?? Infinity;
    await world.run(settle(two.once, NAME, 'done'));
    expect(world.record()?.forgetAt).toBeGreaterThanOrEqual(windowEndsAt);
  });

  test("'done' for a name without a record is told to the next call", async ({ world, tab, once }) => {
    await world.run(settle(once, NAME, 'done'));
    const now = world.clock.now();
    expect(world.record()).toMatchObject({
      state: 'settled',
      key: expect.stringMatching(/^00000000-/),
      origin: '',
      random: true,
      generation: 0,
      revision: 1,
      ambiguous: false,
      scheme: 'sha256',
      payloads: [],
      raw: '',
      createdAt: now,
      carrier: 'header:Idempotency-Key',
    });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', sent: 'no' } });
  });

  test("'none' for a name without a record, or for what is none already, writes nothing", async ({ world, tab, once }) => {
    await world.run(settle(once, NAME, 'none'));
    expect(world.record()).toBeUndefined();
    await world.end(tab, pay(once), answers(402));
    const before = world.record();
    await world.clock.advance(SECOND);
    await world.run(settle(once, NAME, 'none'));
    expect(world.record()).toEqual(before);
  });

  test("'done' for what is done changes nothing", async ({ world, one }) => {
    await done(world, one);
    const before = world.record();
    await world.clock.advance(SECOND);
    await world.run(settle(one.once, NAME, 'done'));
    expect(world.record()).toEqual(before);
  });

  test("'none' for what is done is refused, with its outcome", async ({ world, one }) => {
    await done(world, one);
    await expect(world.run(settle(one.once, NAME, 'none'))).rejects.toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { type: 'replayed', from: 'store', effect: 'done', resumed: false, sent: 'maybe', operation: NAME },
    });
  });
});

describe('forget', () => {
  test('A20: is refused for what may have been sent, with what is known of it', async ({ world, one }) => {
    await left(world, one);
    const refused = { code: 'ERR_ONCE_UNKNOWN', outcome: { type: 'unknown', reason: 'no-answer', sent: 'maybe', resumed: false, operation: NAME } };
    await expect(world.run(forget(one.once, NAME))).rejects.toMatchObject(refused);
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('is allowed for what never left, unless its key is derived, so that other contexts arrive at it, too', async ({ world, tab }) => {
    const next = await pressOffline(tab, (page) => {
      const once = page.once();
      void pay(once);
      void pay(once, { operation: ['derived'], key: derived });
    });
    const again = next.once();
    await world.run(forget(again, NAME));
    expect(world.record()).toMatchObject({ state: 'retired' });
    await expect(world.run(forget(again, ['derived']))).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { sent: 'no' } });
  });

  test('leaves what the next call has to know, and nothing on screens or in memory', async ({ world, one }) => {
    const operation = operationOf(one.once, NAME);
    await left(world, one);
    await left(world, one, ['other']);
    const now = world.clock.now();
    await world.run(forget(one.once, operation.name, { evenIfUnknown: true }));
    expect(world.record()).toMatchObject({
      state: 'retired',
      ending: { type: 'unknown', reason: 'record' },
      sticky: false,
      settledAt: now,
      forgetAt: now + 2 * MINUTE,
    });
    expect(world.writes.at(-1)?.durability).toBe('strict');
    expect(operation.state).toEqual({ phase: 'idle' });
    const { payloads } = tables(one.tab);
    expect([...payloads.keys()].map((key) => key.includes('other'))).toEqual([true]);
  });

  test('after none does not raise the generation, so that lost storage leads back to the same key', async ({ world, tab, once }) => {
    const options: PayOptions = { operation: ['derived'], key: ({ generation }) => `order-7-${generation}` };
    await world.end(tab, pay(once, options), answers(402));
    await world.run(settle(once, ['derived'], 'none'));
    await world.run(forget(once, ['derived']));
    await world.end(tab, pay(once, options), answers(201));
    expect(world.server.keys).toEqual(['order-7-0', 'order-7-0']);
  });

  test('writes nothing for a name without a record', async ({ world, once }) => {
    await world.run(forget(once, NAME));
    await world.run(forget(once, NAME, { evenIfUnknown: true }));
    expect(world.writes).toEqual([]);
  });
});

describe('an infinite time', () => {
  test.for([
    ['limits.keyWindowMs', { limits: { keyWindowMs: Number.POSITIVE_INFINITY, attempts: 1 } }],
    ['keep.forMs', { keep: { forMs: Number.POSITIVE_INFINITY }, limits: { attempts: 1 } }],
  ] as const)('for %s: the operation goes on with its key, is remembered, and is settled and forgotten by hand', async ([_, options], { world }) => {
    const { tab, once } = world.open(options);
    const { outcome } = await world.end(tab, pay(once), charged(lost()));
    await world.clock.advance(MINUTE);
    const next = tab.reload();
    const reloaded = next.once(options);
    expect(await world.end(next, pay(reloaded), replays())).toMatchObject({ outcome: { type: 'replayed', key: outcome?.key } });
    await world.clock.advance(MINUTE);
    expect(await world.end(next, pay(reloaded))).toMatchObject({ outcome: { effect: 'done', key: outcome?.key } });
    expect(world.server.keys).toEqual([outcome?.key, outcome?.key]);
    await world.run(settle(reloaded, NAME, 'done'));
    await world.run(forget(reloaded, NAME));
    expect(world.record()).toMatchObject({ state: 'retired' });
  });
});

describe('a change by hand', () => {
  test('is refused while the operation is under way, here or in another tab, and changes no screen', async ({ world }) => {
    const [here, there] = [world.open(), world.open()];
    const [call] = await world.begin(pay(here.once), delayed(SECOND, idle(answers(402))));
    const operation = operationOf(here.once, NAME);
    expect(operation.state).toMatchObject({ phase: 'sending' });
    for (const { once } of [here, there]) {
      await expect(settle(once, NAME, 'done')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { reason: 'busy', sent: 'maybe' } });
      await expect(forget(once, NAME)).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    }
    expect(operation.state).toMatchObject({ phase: 'sending' });
    await world.end(here.tab, call);
  });

  test('makes a resume wait until it is written', async ({ world, one }) => {
    await left(world, one);
    const operation = operationOf(one.once, NAME);
    const [settled, resumed] = await world.run(Promise.allSettled([settle(one.once, operation.name, 'done'), resumeOne(one.once, operation.name)]));
    expect(settled.status).toBe('fulfilled');
    expect(resumed).toMatchObject({ status: 'rejected', reason: { code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } } });
  });

  test('makes a click wait, but not after its caller has left', async ({ world, tab, once }) => {
    tab.faults.next('hang');
    const settled = settle(once, NAME, 'done');
    settled.catch(() => {});
    await rest();
    const controller = new AbortController();
    const at = world.clock.now();
    const [click] = await world.begin(pay(once, { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect((await world.end(tab, click)).error).toMatchObject({ message: 'enough' });
    expect(world.clock.now()).toBe(at);
    await expect(world.run(settled)).rejects.toThrow();
  });
});

describe('an end by hand, and a key that can be made again', () => {
  test("settled as 'done' by hand: the record stays as long as the server remembers the key, and the next press has another key", async ({ world }) => {
    const { tab, once } = world.open({ keep: { forMs: HOUR }, limits: { attempts: 1 } });
    await world.end(tab, pay(once, { repeat: 'always', key: derived }), charged(lost()));
    await world.run(settle(once, NAME, 'done'));
    const forgetAt = world.record()?.forgetAt ?? 0;
    expect(forgetAt - world.clock.now()).toBeGreaterThanOrEqual(DAY);
    await world.clock.advance(2 * HOUR);
    await world.end(tab, pay(once, { repeat: 'always', key: derived }), answers(201));
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test.for([
    ['settled as none by hand', (once: Once) => settle(once, NAME, 'none'), true],
    ['forgotten', (once: Once) => forget(once, NAME, { evenIfUnknown: true }), false],
  ] as const)('a derived key, and a fingerprint of some fields only: the press after it was %s sends its own bytes', async ([_, end, stays], { world }) => {
    const { tab, once } = world.open({ limits: { attempts: 1 }, fingerprint: ({ body }) => (body as { cart: string }).cart });
    await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 1 } }), lost());
    // While the outcome is unknown, the server must get the same bytes, because it compares them.
    await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 2 } }), lost());
    await world.run(end(once));
    expect((await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 3 } }), answers(201))).outcome).toMatchObject({ effect: 'done' });
    const sent = await Promise.all(world.server.arrivals.map(async (one) => (JSON.parse(await textOf(one)) as { token: number }).token));
    expect(sent).toEqual([1, 1, 3]);
    expect(world.server.keys[2] === world.server.keys[0]).toBe(stays);
  });

  test('a derived key whose record was lost: the press sends the first bytes again, which the server may hold', async ({ world }) => {
    const { tab, once } = world.open({ limits: { attempts: 1 }, fingerprint: ({ body }) => (body as { cart: string }).cart });
    await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 1 } }), charged(lost()));
    world.medium.set(world.record()?.id ?? '', null);
    await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 2 } }), answers(201));
    const sent = await Promise.all(world.server.arrivals.map(async (one) => (JSON.parse(await textOf(one)) as { token: number }).token));
    expect([sent, new Set(world.server.keys).size]).toEqual([[1, 1], 1]);
  });
});
