/**
 * Goal: before its first byte, a call waits for another tab no longer than it may, makes sure of its one record under one key,
 * and says what it could not do. Method: two tabs on one store and one table of locks; store calls that fail one at a time;
 * records that change between them.
 */
import { getEventListeners } from 'node:events';
import { describe, expect, vi } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { derived, forget, operation, settle, subscribe } from '../../src/entries/index.js';
import { firstAvailable } from '../../src/stores/browser/first-available.js';
import type { StoreFaultName } from '../../src/testing/faulty-store.js';
import { made } from '../support/made.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, MINUTE, NAME, newWorld, ONE, pay, rest, SECOND, test, URL_, type World } from '../support/world.js';

/** A tab that holds the lock of the name, and does nothing with it. */
async function holder(world: World): Promise<Tab> {
  const { tab, once } = world.open();
  // The tab freezes on its way back from the lock.
  tab.at(2, () => tab.freeze());
  await world.begin(pay(once));
  expect(world.locks.names).toHaveLength(1);
  return tab;
}

describe('while another tab holds the lock', () => {
  test("'reject' rejects at once, and claims to know nothing of the operation", async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(201)));
    const at = world.clock.now();
    expect(await world.end(two.tab, pay(two.once, { whenBusy: 'reject' }))).toMatchObject({
      code: 'ERR_ONCE_BUSY',
      outcome: { type: 'unknown', reason: 'busy', sent: 'maybe', operation: NAME, attempts: 0, resumed: false, joined: false },
    });
    expect(world.clock.now()).toBe(at);
    await world.end(one.tab, first);
  });

  test.for([
    [60 * SECOND, 10 * SECOND, 10 * SECOND],
    [8 * SECOND, 10 * SECOND, 4 * SECOND],
  ] as const)(
    'a screen sees until when the call waits: with totalMs %i and attemptMs %i, it waits for %i ms',
    async ([totalMs, attemptMs, waited], { world, one, two }) => {
      const [first] = await world.begin(pay(one.once), delayed(SECOND, answers(201)));
      const [second] = await world.begin(pay(two.once, { limits: { totalMs, attemptMs } }));
      expect(operation(two.once, NAME).state).toEqual({ phase: 'waiting', attempt: 0, until: world.clock.now() + waited, why: 'another-context' });
      await world.end(one.tab, first);
      await world.end(two.tab, second);
    },
  );

  test('a call that waited leaves no timer and no listener behind', async ({ world }) => {
    const signals = new Map<EventTarget, number>();
    const { addEventListener } = EventTarget.prototype;
    vi.spyOn(EventTarget.prototype, 'addEventListener').mockImplementation(function (this: EventTarget, ...call) {
      signals.set(this, (signals.get(this) ?? 0) + 1);
      addEventListener.apply(this, call as never);
    });
    const [one, two] = [world.open(), world.open()];
    const { signal } = new AbortController();
    for (const id of ['c1', 'c2', 'c3']) {
      const [first] = await world.begin(pay(one.once, { operation: ['pay', id] }), delayed(SECOND, answers(201)));
      const second = pay(two.once, { operation: ['pay', id], signal });
      await world.end(one.tab, first);
      await world.end(two.tab, second);
    }
    vi.restoreAllMocks();
    expect(world.clock.pending).toBe(0);
    // What gets a listener in several calls outlives each of them: the caller's signal, the client's end.
    const shared = [...signals].filter(([, times]) => times >= 3).map(([target]) => target);
    expect(shared.length).toBeGreaterThan(0);
    expect(shared.flatMap((target) => getEventListeners(target, 'abort'))).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a call that got the lock in time gives it back when it has ended', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(201)));
    const [second] = await world.begin(pay(two.once));
    await world.end(one.tab, first);
    await world.end(two.tab, second);
    expect(world.locks.names).toEqual([]);
  });

  test('a call that waits in vain sends at its time, also if the lock comes a moment later, and then gives that back', async ({ world }) => {
    const [one, tab] = [world.open(), world.tab()];
    // The lock manager has granted the lock when it hears that nobody waits any more.
    const { locks } = tab.platform;
    const acquire = (name: string, signal?: AbortSignal) => locks?.acquire(name, signal && new AbortController().signal);
    Object.assign(tab.platform, { locks: { acquire } });
    const [first] = await world.begin(pay(one.once), delayed(20 * SECOND, charged(answers(201))), charged(answers(201)));
    const { ms, outcome } = await world.end(tab, pay(tab.once({ limits: { attemptMs: 10 * SECOND } })));
    expect([ms, outcome?.effect]).toEqual([10 * SECOND, 'done']);
    await world.end(one.tab, first);
    await rest();
    expect(world.locks.names).toEqual([]);
  });

  test('a call that has waited in vain leaves the queue: where its page sleeps afterwards, the lock is for others', async ({ world }) => {
    const [one, two, three] = [world.open(), world.open({ limits: { attemptMs: 10 * SECOND } }), world.open()];
    const [first] = await world.begin(pay(one.once), delayed(20 * SECOND, charged(answers(201))), charged(answers(201)));
    await world.end(two.tab, pay(two.once));
    two.tab.freeze();
    await world.end(one.tab, first);
    expect(await world.end(three.tab, pay(three.once))).toMatchObject({ outcome: { effect: 'done' }, ms: 0 });
  });

  test('an abort ends the wait', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(201)));
    const controller = new AbortController();
    const before = world.clock.pending;
    const [second] = await world.begin(pay(two.once, { signal: controller.signal }));
    expect(world.clock.pending).toBe(before + 1);
    controller.abort();
    await rest();
    expect(world.clock.pending).toBe(before);
    await world.end(two.tab, second);
    await world.end(one.tab, first);
  });

  test('a store that cannot be read ends the call, with the reason', async ({ world, one, two }) => {
    const [first] = await world.begin(pay(one.once), delayed(5 * SECOND, answers(201)));
    two.tab.faults.next('look-fails');
    const end = await world.end(two.tab, pay(two.once));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', reason: 'store', sent: 'maybe' } });
    expect((end.error as Error).cause).toMatchObject({ reason: 'io' });
    await world.end(one.tab, first);
  });

  test('a record that was settled before the wait does not answer the call', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(201, { id: 'ch_1' }));
    const dying = await holder(world);
    const other = world.open();
    const [again] = await world.begin(pay(other.once, { repeat: 'always' }));
    dying.kill();
    expect((await world.end(other.tab, again, answers(201, { id: 'ch_2' }))).outcome).toMatchObject({ type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(2);
  });
});

describe('locks that do not work', () => {
  test('if the manager refuses, a call goes on, and so do settle and forget', async ({ world }) => {
    vi.spyOn(world.locks, 'acquire').mockRejectedValue(new DOMException('denied', 'SecurityError'));
    const { tab, once } = world.open();
    expect((await world.end(tab, pay(once, ONE), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    await world.run(settle(once, NAME, 'done'));
    expect(world.record()).toMatchObject({ state: 'settled' });
    await world.run(forget(once, NAME));
    expect(world.record()).toMatchObject({ state: 'retired' });
  });

  test.for([
    ['a page reports once', ['insecure-origin'], false],
    ['a server reports', [], true],
  ] as const)('without any locks, %s: %j', async ([_, codes, server], { world }) => {
    const { tab, once } = world.open({}, { locks: false, server });
    const told: unknown[] = [];
    subscribe(once, (event) => event.type === 'diagnostic' && told.push([event.code, event.key, event.message.includes('shop.example')]));
    await world.end(tab, pay(once), answers(201));
    expect(told).toEqual(codes.map((code) => [code, '', true]));
  });
});

describe('a store that chooses among several', () => {
  test("is asked for its choice first, so that 'required' is judged by the chosen store", async ({ world, tab }) => {
    const once = tab.once({ store: firstAvailable([tab.store]), durability: 'required' });
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201, outcome: { storedIn: 'disk' } });
  });

  test('but cannot choose yet ends the call before anything is decided', async ({ world, tab }) => {
    const trouble = new Error('connection lost');
    let asked = 0;
    const once = tab.once({ store: firstAvailable([{ ...tab.store, available: async () => (asked++ === 0 ? Promise.reject(trouble) : true) }]) });
    const end = await world.end(tab, pay(once));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { sent: 'maybe' } });
    expect((end.error as Error).cause).toBe(trouble);
  });
});

describe('the key', () => {
  test('of an unnamed call is random even on a store that is not atomic', async ({ world }) => {
    const { tab, once } = world.open({}, { claims: { atomic: false } });
    const end = await world.end(tab, once.fetch(URL_, { method: 'POST', body: JSON.stringify(CART) }), answers(201));
    expect(end.outcome).toMatchObject({ type: 'fresh', key: expect.stringMatching(/^00000000-/) });
  });

  test.for([12, 25])('from a strategy that takes %i s is sent', async (seconds, { world, tab, once }) => {
    const key = () => new Promise<string>((resolve) => world.clock.timer(seconds * 1000, () => resolve('order-42')));
    expect((await world.end(tab, pay(once, { key }), answers(201))).outcome).toMatchObject({ type: 'fresh', key: 'order-42' });
  });

  test('from a strategy is made again a few times at most while the generation of the record rises', async ({ world, tab, once }) => {
    const asked: number[] = [];
    const key = ({ generation }: { generation: number }): string => {
      asked.push(generation);
      world.damage((record) => sealed({ ...record, generation: record.generation + 1 }));
      return `key-of-generation-${generation}`;
    };
    await world.end(tab, pay(once), answers(402));
    expect(await world.end(tab, pay(once, { key }))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(6);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test.for([
    ['a named call', 'strict', { once: NAME }],
    ['an unnamed call', 'relaxed', {}],
  ] as const)('of %s is stored %s', async ([_, durability, how], { world, tab, once }) => {
    await world.end(tab, once.fetch(URL_, { method: 'POST', body: JSON.stringify(CART), ...how }), answers(201));
    expect(world.writes[0]?.durability).toBe(durability);
  });
});

describe('the record', () => {
  test('says where the key goes, and has no lease if no other context shares the store', async ({ world }) => {
    const { tab, once } = world.open({}, { locks: false, claims: { shared: 'context' } });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(world.writes.map(({ next }) => (next as OnceRecord).lease)).toEqual(world.writes.map(() => undefined));
    expect(world.record()).toMatchObject({ origin: 'https://shop.example', carrier: 'header:Idempotency-Key' });
  });

  test('accepts no other payload if the server does not answer mismatches', async ({ world }) => {
    const dialect = { ...GENERIC, answersMismatch: false };
    const { tab, once } = world.open({ dialect });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(await world.end(tab, pay(once, { body: { ...CART, amount: 11 } }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('a first write that failed', () => {
  interface Trouble {
    readonly faults: readonly (StoreFaultName | 'none')[];
    readonly durability?: 'required' | 'best-effort';
    readonly key?: typeof derived;
    /** Stored right before the read that follows the failed write, or right after that read. */
    readonly before?: (own: OnceRecord) => OnceRecord;
    readonly behind?: (own: OnceRecord) => OnceRecord;
  }

  /** Pays while `faults` hit the store's calls, one after the other. Checks that nothing is sent and nothing is kept in memory. */
  async function failing({ faults, durability = 'best-effort', key, before, behind }: Trouble) {
    const { world, tab, once } = newWorld().open({ durability });
    const { update, read } = tab.store;
    let own: OnceRecord | undefined;
    const put = (change: ((own: OnceRecord) => OnceRecord) | undefined): void => {
      if (own && change) world.medium.set(own.id, change(own));
    };
    Object.assign(tab.store, {
      update: ((id, change, options) =>
        update(
          id,
          (current, now) => {
            const changed = change(current, now);
            own ??= changed.next as OnceRecord | undefined;
            return changed;
          },
          options,
        )) satisfies typeof update,
      read: async (id: string) => {
        put(before);
        const found = await read(id);
        put(behind);
        return found;
      },
    });
    tab.faults.next(...faults);
    const end = await world.end(tab, pay(once, { key }));
    expect(world.server.arrivals).toHaveLength(0);
    expect(tab.degraded.size).toBe(0);
    return { end, stored: own && world.medium.get(own.id) };
  }
  const store = { code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', sent: 'maybe' } };

  test.each<[string, Trouble]>([
    ['cannot be checked', { faults: ['fail-before-commit', 'look-fails'] }],
    ['is still under way', { faults: ['hang'] }],
    ["is still under way, under 'required'", { faults: ['hang'], durability: 'required' }],
    ["cannot be taken back, under 'required'", { faults: ['fail-before-commit', 'none', 'look-fails'], durability: 'required' }],
    ["had a derived key, under 'required'", { faults: ['fail-before-commit'], durability: 'required', key: derived }],
  ])('that %s: nothing is sent, and the effect is unknown', async (_, trouble) => {
    const { end } = await failing(trouble);
    expect(end).toMatchObject(store);
    expect((end.error as Error).cause).toBeInstanceOf(Error);
  });

  test("of a strategy's key leaves the effect unknown, even under 'required', because other contexts arrive at the same key", async () => {
    expect((await failing({ faults: ['none', 'fail-before-commit'], durability: 'required', key: derived })).end).toMatchObject(store);
  });

  test.for(['required', 'best-effort'] as const)(
    'that may still be stored later: nothing is sent and nothing is kept in memory, under %s',
    async (durability, { world }) => {
      const { tab, once } = world.open({ durability });
      const update: typeof tab.store.update = (_, change) => {
        change(undefined, world.clock.now());
        return new Promise(() => {});
      };
      const { update: real } = tab.store;
      let updates = 0;
      Object.assign(tab.store, { update: (...call: Parameters<typeof real>) => (updates++ === 0 ? update(...call) : real(...call)) });
      expect(await world.end(tab, pay(once))).toMatchObject(store);
      expect([world.server.arrivals.length, tab.degraded.size]).toEqual([0, 0]);
    },
  );

  describe.each(['required', 'best-effort'] as const)('under %s', (durability) => {
    test.each<[string, (own: OnceRecord) => OnceRecord]>([
      ['took it over', (own) => sealed({ ...own, revision: own.revision + 1 })],
      ['ended it', (own) => sealed({ ...own, state: 'retired' })],
      ['has stored one of its own', (own) => sealed({ ...own, key: made('another-key-of-another-tab') })],
    ])('and another tab %s: the record is left alone', async (_, before) => {
      const { end, stored } = await failing({ faults: ['fail-before-commit'], durability, before });
      expect(end).toMatchObject(store);
      expect(stored).toBeDefined();
    });
  });

  test("that is stored late under 'required' is taken back: nothing was sent, nothing stays, and the reason is told", async () => {
    const { end, stored } = await failing({ faults: ['fail-before-commit'], durability: 'required', behind: (own) => own });
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', reason: 'store-write', sent: 'no', resumed: false, joined: false } });
    expect((end.error as Error).cause).toMatchObject({ reason: 'io' });
    expect(stored).toBeUndefined();
  });

  test("that is stored late under 'required', and that another context has taken over by then, is left alone", async () => {
    const { end, stored } = await failing({
      faults: ['fail-before-commit'],
      durability: 'required',
      behind: (own) => sealed({ ...own, revision: own.revision + 1 }),
    });
    expect(end).toMatchObject(store);
    expect(stored).toMatchObject({ state: 'pending' });
  });
});

test('a first write that was stored, although it failed, in a store that no other context shares, so that calls take no leases: it goes on with it', async ({
  world,
}) => {
  const { tab, once } = world.open({}, { claims: { shared: 'context' } });
  tab.faults.next('fail-after-commit');
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  expect(world.record()).toMatchObject({ state: 'settled', key: world.server.keys[0] });
  expect(tab.degraded.size).toBe(0);
});

test('after a sleep that outlasts both calls, the call that waited leaves the record to the call that is told "done"', async ({ world, one, two }) => {
  const [first] = await world.begin(pay(one.once), charged(delayed(20 * SECOND, answers(201))));
  const [second] = await world.begin(pay(two.once));
  one.tab.freeze();
  two.tab.freeze();
  await world.clock.advance(10 * MINUTE);
  two.tab.thaw();
  await rest();
  one.tab.thaw();
  expect(await world.end(one.tab, first)).toMatchObject({ status: 201, outcome: { effect: 'done' } });
  expect(await world.end(two.tab, second)).toMatchObject({ outcome: { effect: 'done' } });
  expect(world.record()).toMatchObject({ state: 'settled' });
});
