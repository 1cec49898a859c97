/**
 * Goal: no trouble with storage, the wire form of the key or the clock makes a second key (attacks 5, 6, 7, 10, 21, 22, 28, 34,
 * 54). Method: the sequences that broke earlier drafts, over reloads, on a store that fails on demand and with clocks that jump.
 */
import { describe, expect } from 'vitest';
import { seal } from '../../src/core/record.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { clear, forget, type OnceEvent, operation as operationOf, settle, subscribe } from '../../src/entries/index.js';
import type { Store } from '../../src/ports.js';
import { firstAvailable } from '../../src/stores/browser/first-available.js';
import { memoryStore } from '../../src/stores/memory.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, during, hangs, lost, replays } from '../support/server.js';
import { LEAN } from '../support/texts.js';
import { CART, DAY, HOUR, MINUTE, NAME, ONE, pay, rest, SECOND, saying, test, type World } from '../support/world.js';

/** Runs the change on a guess, and never answers: the engine's time limit ends before the store's. */
const guessing = (world: World, store: Store): Store => ({
  ...store,
  update(_, change) {
    change(undefined, world.clock.now());
    return new Promise(() => {});
  },
});

/** After `ahead` updates, one that finds nothing gets no answer, and is not stored yet. The later ones are answered. */
function stalling(world: World, store: Store, ahead: number): Store {
  let updates = 0;
  return { ...store, update: (...call) => (updates++ === ahead ? guessing(world, store) : store).update(...call) };
}

describe('A5: a store that cannot be read', () => {
  test.for(['look-fails', 'hang'] as const)('A5: after a charge and a reload, nothing is sent (%s)', async (fault, { world }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    tab.faults.rate(fault, 1);
    const end = await world.end(tab, pay(once));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { type: 'unknown', effect: 'unknown', reason: 'store', sent: 'maybe' } });
    tab.faults.clear();
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key });
  });

  test('A5: nothing is sent, even if a write would succeed and durability is best-effort', async ({ world }) => {
    const { tab, once } = world.open({ durability: 'best-effort' });
    tab.faults.next('look-fails');
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE' });
    expect(tab.degraded.size).toBe(0);
  });

  test('A5: a store that guesses that it is empty, and never answers, does not make an old record of the same key pass for a new one', async ({ world }) => {
    const key = 'order-1';
    const first = world.open();
    expect((await world.end(first.tab, pay(first.once, { key, ...ONE }), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    await world.clock.advance(DAY);
    const { tab } = world.open();
    const sent = world.server.arrivals.length;
    const end = await world.end(tab, pay(tab.once({ store: guessing(world, tab.store) }), { key }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(sent);
  });

  test('A5: such a store does not make a record pass for a new one that another process began in the same millisecond', async ({ world }) => {
    const [one, two] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    world.server.plays(delayed(20 * SECOND, charged(answers(201))));
    const driven = pay(one.once, { key: 'order-1' });
    const end = await world.end(two.tab, pay(two.tab.once({ store: guessing(world, two.tab.store) }), { key: 'order-1' }));
    expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    expect((await world.end(one.tab, driven)).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A5: if the platform refuses storage altogether, its users can still pay', async ({ world, tab }) => {
    const memory = memoryStore({ medium: world.medium });
    const noted = {
      ...memory,
      update(...call: Parameters<typeof memory.update>) {
        world.writes.push({ from: tab.name, id: call[0], next: null, durability: undefined });
        return memory.update(...call);
      },
    } as typeof memory;
    const once = tab.once({ store: firstAvailable([{ ...tab.store, available: async () => false }, noted]) });
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201, outcome: { storedIn: 'memory' } });
  });

  test('if the first write fails once, and then the store works, the record is stored, and the next page goes on with its key', async ({
    world,
    tab,
    once,
  }) => {
    tab.faults.next('fail-before-commit');
    expect(await world.end(tab, pay(once, ONE), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown', storedIn: 'disk' } });
    const next = tab.reload();
    expect((await world.end(next, pay(next.once()), replays())).outcome).toMatchObject({ type: 'replayed' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test.for([
    ['first', []],
    ['second', ['fail-before-commit']],
  ] as const)(
    'if the %s write of a record gets no answer, it may be stored later, so nothing goes to memory or is sent',
    async ([_, before], { world, tab }) => {
      const once = tab.once({ store: stalling(world, tab.store, before.length) });
      tab.faults.next(...before);
      expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', attempts: 0 } });
      expect([world.server.arrivals, tab.degraded.size]).toEqual([[], 0]);
    },
  );

  test('if the store has no record, and fails to write one twice, the record goes to memory, and an event and the outcome say so', async ({
    world,
    tab,
    once,
  }) => {
    const events: OnceEvent[] = [];
    subscribe(once, (event) => events.push(event));
    tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201, outcome: { storedIn: 'memory' } });
    expect(events).toContainEqual(expect.objectContaining({ type: 'diagnostic', code: 'store-degraded' }));
  });

  test("with durability 'required' the request is not sent, and the outcome is unsent", async ({ world }) => {
    const { tab, once } = world.open({ durability: 'required' });
    tab.faults.next('fail-before-commit');
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent', reason: 'store-write', sent: 'no' } });
    expect(world.record()).toBeUndefined();
  });

  test("with durability 'required' a write that gets no answer is not called unsent, because it may be stored later", async ({ world, tab }) => {
    const once = tab.once({ durability: 'required', store: stalling(world, tab.store, 0) });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', attempts: 0 } });
    expect(world.server.arrivals).toHaveLength(0);
  });

  test.for(['fail-after-commit', 'hang-after-commit'] as const)(
    'a write that was stored although it failed is never followed by another key (%s)',
    async (fault, { world, tab, once }) => {
      tab.faults.next(fault);
      await world.end(tab, pay(once, ONE), charged(lost()));
      const next = world.open();
      tab.kill();
      await world.end(next.tab, pay(next.once), replays());
      expect(new Set(world.server.keys).size).toBe(1);
    },
  );

  test('a record that could not be stored in place of an earlier one does not go to memory', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(402));
    tab.faults.next('fail-before-commit');
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE' });
  });
});

describe('A6: the end is stored in time', () => {
  test('A6: the end is stored before the caller hears of it, so the next page finds it even if this one navigates away at once', async ({
    world,
    tab,
    once,
  }) => {
    world.server.plays(answers(201));
    let stored: unknown;
    const call = pay(once).then((response) => {
      stored = world.record()?.state;
      tab.kill();
      return response;
    });
    await world.run(call);
    expect(stored).toBe('settled');
    const next = world.open();
    expect(await world.end(next.tab, pay(next.once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });

  test('A6: a second tab that waited gets the settled outcome, and sends nothing', async ({ world }) => {
    const one = world.open();
    const two = world.open();
    const [first] = await world.begin(pay(one.once), delayed(SECOND, answers(201)));
    const second = pay(two.once);
    expect(await world.end(one.tab, first)).toMatchObject({ status: 201 });
    expect(await world.end(two.tab, second)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

describe('A7: tombstones', () => {
  test.for([
    ['a moment', 0],
    ['25 hours, when the phone brings the tab back', 25 * HOUR],
    ['29 days', 29 * DAY],
  ] as const)('A7: %s after it was paid, on another page, nothing is sent', async ([_, ms], { world, tab, once }) => {
    await world.end(tab, pay(once), answers(201));
    tab.kill();
    await world.clock.advance(ms);
    const next = world.open();
    expect(await world.end(next.tab, pay(next.once))).toMatchObject({
      code: 'ERR_ONCE_ALREADY_SETTLED',
      outcome: { effect: 'done', type: 'replayed', from: 'store' },
    });
  });
});

describe('A10: the wire form of the key', () => {
  const quoting = { ...GENERIC, name: 'other', carrier: 'header:X-Idempotency-Key', keyPattern: /^.+$/ };

  test('A10: is stored, and used by every later driver, whatever its own dialect', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    const { tab, once } = world.open({ dialect: quoting });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ key });
    const { headers } = world.server.arrivals[1]!;
    expect(headers.get('idempotency-key')).toBe(key);
    expect(headers.get('x-idempotency-key')).toBeNull();
  });

  test.for([
    ['the earlier page had the shorter one', 5 * MINUTE, undefined],
    ['the later page has the shorter one', undefined, 5 * MINUTE],
  ] as const)('A10: the shorter of two key windows counts: %s', async ([_, before, later], { world, tab, once }) => {
    await world.end(tab, pay(once, { limits: { attempts: 1, keyWindowMs: before } }), charged(lost()));
    tab.kill();
    await world.clock.advance(10 * MINUTE);
    const next = world.open();
    expect(await world.end(next.tab, pay(next.once, { limits: { keyWindowMs: later } }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  });

  test('A10: a later page with a longer window does not extend the window that an earlier page stored', async ({ world }) => {
    const first = world.open();
    await world.end(first.tab, pay(first.once, { limits: { attempts: 1, keyWindowMs: 5 * MINUTE } }), charged(lost()));
    await world.clock.advance(MINUTE);
    const second = first.tab.reload();
    await world.end(second, pay(second.once(), ONE), lost());
    await world.clock.advance(10 * MINUTE);
    const third = second.reload();
    expect(await world.end(third, pay(third.once()))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  });

  test('A10: a request to another origin is another payload, even if the fingerprint hook reads only the body', async ({ world }) => {
    const fingerprint = ({ body }: { body: unknown }) => body;
    const { tab, once } = world.open({ fingerprint, whenChanged: 'refuse' });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(await world.end(tab, pay(once, { url: 'https://eu.shop.example/api/payments' }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH' });
  });
});

describe('A21: the clock', () => {
  test('A21: a laptop that slept 26 hours in a backoff does not send again', async ({ world, tab, once }) => {
    world.server.plays(during(() => world.clock.jump(26 * HOUR), charged(lost())));
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A21: a call with a long deadline does not send again after such a sleep either, and says that the key is too old', async ({ world, tab, once }) => {
    const limits = { totalMs: 20 * DAY };
    world.server.plays(during(() => world.clock.jump(26 * HOUR), charged(lost())));
    expect(await world.end(tab, pay(once, { limits }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown', reason: 'key-expired' } });
  });

  test.for([
    ['inside the window, less the time of one attempt, the key is sent', 24 * HOUR - 31 * SECOND, true],
    ['past the window, less the time of one attempt, the key is not sent', 24 * HOUR - 29 * SECOND, false],
  ] as const)('A21: %s', async ([_, ms, sends], { world }) => {
    await world.interrupted(charged(lost()));
    await world.clock.advance(ms);
    const { tab, once } = world.open();
    if (sends) world.server.plays(replays());
    expect(await world.end(tab, pay(once))).toMatchObject(sends ? { status: 201 } : { code: 'ERR_ONCE_KEY_EXPIRED' });
  });

  test.for([
    [4 * MINUTE, true],
    [6 * MINUTE, false],
    [3 * DAY, false],
  ] as const)('A21: after the clock went back by %i ms, the key is sent: %s', async ([ms, sends], { world }) => {
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    tab.skewMs = -ms;
    if (sends) world.server.plays(replays());
    expect(await world.end(tab, pay(once))).toMatchObject(sends ? { status: 201 } : { code: 'ERR_ONCE_KEY_EXPIRED' });
  });

  test('A21: a clock that goes back between two attempts stops the second one', async ({ world, tab, once }) => {
    world.server.plays(during(() => world.clock.jump(-HOUR), charged(lost())));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  });

  test('A21: a clean operation has no window until its first attempt', async ({ world, tab }) => {
    const next = await pressOffline(tab, (page) => pay(page.once()));
    expect(world.record()).toMatchObject({ ambiguous: false });
    await world.clock.advance(25 * HOUR);
    expect(await world.end(next, pay(next.once(), ONE), lost())).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(world.record()).toMatchObject({ firstSentAt: world.server.arrivals[0]?.at });
  });

  test('A21: past the window the call asks reconcile, and never takes a new key by itself', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    await world.clock.advance(25 * HOUR);
    const { tab, once } = world.open();
    const asked: unknown[] = [];
    const reconcile = saying(asked, 'unknown' as const);
    expect(await world.end(tab, pay(once, { reconcile }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown', resumed: true, key } });
    expect(asked).toMatchObject([{ key, reason: 'key-expired', response: undefined }]);
    expect(await world.end(tab, pay(once, { body: { ...CART, amount: 20 } }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  });

  test("A21: past the window, the call goes on under a new key if reconcile says 'none'", async ({ world }) => {
    const key = await world.interrupted(lost());
    await world.clock.advance(25 * HOUR);
    const { tab, once } = world.open();
    const end = await world.end(tab, pay(once, { reconcile: async () => 'none' }), answers(201));
    expect(end).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
    expect(end.outcome?.key).not.toBe(key);
  });
});

describe('A22: stores without atomic update', () => {
  const claims = { atomic: false } as const;

  test('A22: two tabs that race without locks arrive at one key', async ({ world }) => {
    const [one, two] = [world.open({}, { claims, locks: false }), world.open({}, { claims, locks: false })];
    world.server.plays(charged(lost()), replays());
    const calls = [pay(one.once, ONE), pay(two.once)];
    const ends = [await world.end(one.tab, calls[0]!), await world.end(two.tab, calls[1]!)];
    expect(ends.map(({ outcome }) => outcome?.key)).toEqual([world.server.keys[0], world.server.keys[0]]);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('A22: two tabs that both found nothing and overwrote one another make the same key', async ({ world }) => {
    const keys: unknown[] = [];
    for (const body of [CART, { ...CART, amount: 20 }]) {
      const { tab, once } = world.open({}, { claims, locks: false });
      keys.push((await world.end(tab, pay(once, { ...ONE, body }), lost())).outcome?.key);
      // This write is lost, as if another tab had overwritten it.
      tab.faults.next('evict');
      await tab.store.read('');
    }
    expect(new Set(keys).size).toBe(1);
  });

  test('A22: a refusal keeps the key of such a store, because another tab may have sent it', async ({ world }) => {
    const { tab, once } = world.open({}, { claims, locks: false });
    expect(await world.end(tab, pay(once), answers(402))).toMatchObject({ status: 402, outcome: { effect: 'unknown' } });
    expect(world.record()).toMatchObject({ state: 'pending' });
  });

  test('A22: a refusal that another tab got first also ends this call, and no second key follows: the write of either tab may be lost', async ({ world }) => {
    const { tab, once } = world.open({}, { claims, locks: false });
    world.server.plays(answers(402, {}, { 'idempotent-replayed': 'true' }));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none' } });
    expect(world.server.keys).toHaveLength(1);
  });

  test('A22: clients without a store of their own share one memory per realm', async ({ world }) => {
    const tab = world.tab({ server: true });
    const [one, two] = [tab.once({ store: undefined }), tab.once({ store: undefined })];
    const first = await world.end(tab, pay(one, ONE), charged(lost()));
    expect((await world.end(tab, pay(two), replays())).outcome).toMatchObject({ type: 'replayed', key: first.outcome?.key });
  });
});

describe('A28: versions', () => {
  test('A28: a record of a newer version, with fields of its own, is driven under its key and keeps them', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    world.damage((record) => ({ ...record, v: 7, invention: { of: 'version 7' } }));
    const { tab, once } = world.open();
    expect((await world.end(tab, pay(once, ONE), charged(lost()))).outcome).toMatchObject({ key, resumed: true });
    expect(world.record()).toMatchObject({ v: 7, invention: { of: 'version 7' } });
  });

  test.for([
    [{ type: 'unknown', effect: 'unknown', reason: 'lapsed' }, 'It may have taken effect: lapsed.'],
    [{ type: 'withdrawn', effect: 'none' }, 'It ended as withdrawn: its effect is none.'],
  ] as const)(
    'A28: a newer version ends an operation as %o, which this version does not know: a call that waits for it ends, and says that',
    async ([ending, text], { world }) => {
      const [driver, waiter] = [world.open(), world.open()];
      let waiting: ReturnType<typeof pay> | undefined;
      const endsMeanwhile = async () => {
        [waiting] = await world.begin(pay(waiter.once));
        world.damage((record) => seal({ ...record, state: 'retired', ending } as never));
      };
      await world.end(driver.tab, pay(driver.once, ONE), during(endsMeanwhile, charged(lost())));
      const { error, outcome } = await world.end(waiter.tab, waiting as NonNullable<typeof waiting>);
      expect(outcome).toMatchObject(ending);
      expect(String(error)).toContain(LEAN ? 'ERR_ONCE_ALREADY_SETTLED' : text);
    },
  );

  test('A28: a fingerprint of an unknown scheme counts as changed, not as absent', async ({ world }) => {
    const key = await world.interrupted(charged(lost()));
    world.damage((record) => seal({ ...record, scheme: 'blake7', payloads: ['b7:1'] }));
    const { tab, once } = world.open();
    world.server.plays(replays());
    // Another payload may have been charged.
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', key } });
  });

  test.for([
    ['never', 1],
    ['if-changed', 2],
  ] as const)('A28: what is done with a fingerprint of an unknown scheme, and is called with repeat %s: %i effects', async ([repeat, effects], { world }) => {
    const { tab, once } = world.open({ repeat });
    await world.end(tab, pay(once), charged(answers(201)));
    world.damage((record) => seal({ ...record, scheme: 'blake7', payloads: ['b7:1'] }));
    if (effects > 1) world.server.plays(charged(answers(201)));
    const next = tab.reload();
    expect((await world.end(next, pay(next.once({ repeat })))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.charged.size).toBe(effects);
  });

  test.for([
    ['torn', (record: object) => JSON.stringify(record).slice(0, 60)],
    ['with a flipped bit in its key', (record: object) => ({ ...record, key: 'x' })],
    ['without a state', (record: object) => ({ ...record, state: undefined })],
    ['that is not an object', () => 7],
    ['that is null', () => JSON.parse('[null]')],
    ['that is an empty object', () => ({})],
  ] as const)('A28: a record %s is kept, nothing is sent, and only evenIfUnknown makes forget remove it', async ([_, how], { world }) => {
    await world.interrupted(charged(lost()));
    const { id } = world.record()!;
    world.damage(how);
    const damaged = world.medium.get(id);
    const { tab, once } = world.open();
    const operation = operationOf(once, NAME);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_RECORD', outcome: { effect: 'unknown', reason: 'record' } });
    await expect(world.run(forget(once, operation.name))).rejects.toMatchObject({ code: 'ERR_ONCE_RECORD' });
    await expect(world.run(settle(once, operation.name, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_RECORD' });
    expect(world.medium.get(id)).toEqual(damaged);
    await world.run(forget(once, operation.name, { evenIfUnknown: true }));
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201 });
  });
});

describe('a log-out with unsettled: "forget"', () => {
  test.for([
    ['unsettled', charged(lost())],
    ['settled', charged(answers(201))],
  ] as const)('removes a damaged record that was %s; a plain log-out keeps it', async ([_, meets], { world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    await world.end(tab, pay(once, { ...ONE, meta: { to: 'Ann' } }), meets);
    world.damage((record) => ({ ...record, key: 'x' }));
    await world.run(clear(once));
    expect(world.records).toMatchObject([{ key: 'x' }]);
    await world.run(clear(once, { unsettled: 'forget' }));
    expect(world.records).toEqual([]);
  });

  test('keeps the damaged records of other users', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'bert' });
    await world.end(tab, pay(once, ONE), charged(lost()));
    world.damage((record) => ({ ...record, key: 'x' }));
    await world.run(clear(world.open({ namespace: 'ann' }).once, { unsettled: 'forget' }));
    expect(world.records).toMatchObject([{ key: 'x' }]);
  });

  test('keeps an operation that begins during the log-out', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    const other = world.open({ namespace: 'ann' });
    const { scan } = tab.store;
    let began: Promise<unknown> | undefined;
    Object.assign(tab.store, {
      scan: async (query: Parameters<typeof scan>[0]) => {
        const page = await scan(query);
        if (!began) {
          world.server.plays(hangs());
          began = pay(other.once, ONE).catch(() => {});
          await rest();
        }
        return page;
      },
    });
    await world.run(clear(once, { unsettled: 'forget' }));
    expect(world.records).toMatchObject([{ state: 'pending' }]);
    await world.run(began as Promise<unknown>);
  });
});

describe('A34: durable before the first byte', () => {
  test('A34: the first write of a named operation is strict, and so is the mark before its first attempt', async ({ world, tab, once }) => {
    world.server.plays(during(() => expect(world.writes.map(({ durability }) => durability)).toEqual(['strict']), answers(201)));
    await world.end(tab, pay(once));
    const offline = world.open();
    offline.tab.online = false;
    world.writes.length = 0;
    world.server.plays(during(() => expect(world.writes.map(({ durability }) => durability)).toEqual(['strict', 'strict']), answers(201)));
    await world.end(offline.tab, pay(offline.once, { operation: ['pay', 'c2'] }));
  });

  test("A34: durability 'required' refuses a store that forgets with the page", async ({ world, tab }) => {
    const forgetful = { durability: 'required', store: memoryStore() } as const;
    if (!LEAN) expect(() => tab.once(forgetful)).toThrow(TypeError);
    // A page in production reports it at the first call.
    for (const options of [{ ...forgetful, store: firstAvailable([memoryStore()]) }, ...(LEAN ? [forgetful] : [])])
      expect(await world.end(tab, pay(tab.once(options)))).toMatchObject({ code: 'ERR_ONCE_STORE' });
    expect(world.server.arrivals).toEqual([]);
  });
});

test('A54: a change that the store runs three times makes one key', async ({ world, tab }) => {
  const eager = {
    ...tab.store,
    update: (id: string, change: Parameters<typeof tab.store.update>[1], options: object) =>
      tab.store.update(id, (current, now) => [1, 2, 3].map(() => change(current, now))[2] as ReturnType<typeof change>, options),
  };
  const once = tab.once({ store: eager as typeof tab.store });
  expect(await world.end(tab, pay(once), charged(lost()), charged(hangs()), replays())).toMatchObject({ status: 201 });
  expect(new Set(world.server.keys).size).toBe(1);
  expect(world.record()).toMatchObject({ state: 'settled', generation: 0 });
});
