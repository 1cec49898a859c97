/**
 * Goal: even if a request is too long for the store, its key is stored. Method: a store with room for a record, but not for a record with a long request; the
 * page is reloaded after a lost answer.
 */
import { describe, expect } from 'vitest';
import { background, hooks, type OnceOptions, type OperationOptions, pending, requests, resumeInBackground } from '../../src/entries/index.js';
import type { Store } from '../../src/ports.js';
import { answers, honest, lost } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { HOUR, ONE, pay, SECOND, test } from '../support/world.js';

const LONG = 'x'.repeat(3000);
const ROOM = 1500;
const KEPT = { use: [requests()], keep: { request: true } } as const;
const AGREED = { background: { untilMs: Date.UTC(2100) } };

/** The tab's store, except that it refuses to write a record that is longer than `ROOM`. */
const cramped = ({ store }: Tab): Store => ({
  ...store,
  update: (id, change, options) =>
    store.update(
      id,
      (stored, now) => {
        const changed = change(stored, now);
        if (changed.next && JSON.stringify(changed.next).length > ROOM) throw new DOMException('no room', 'QuotaExceededError');
        return changed;
      },
      options,
    ),
});

describe.for<[string, client: OnceOptions, call: OperationOptions]>([
  ['keep.request', KEPT, {}],
  ["keep.request and durability: 'required'", { ...KEPT, durability: 'required' }, {}],
  ['once.background', { use: [background()] }, AGREED],
  ['keep.request and a key strategy', { ...KEPT, use: [requests(), hooks()] }, { key: ({ generation }) => `order-${generation}` }],
])('%s, and no room for the request', ([_, client, call]) => {
  test('the key is stored without the request, and the press after a lost answer and a reload does not charge again', async ({ world }) => {
    world.server.otherwise = honest([lost()]);
    const tab = world.tab();
    const once = tab.once({ namespace: 'ann', ...ONE, ...client, store: cramped(tab) });
    expect(await world.end(tab, pay(once, { body: LONG, ...call }))).toMatchObject({ outcome: { effect: 'unknown', reason: 'no-answer', storedIn: 'disk' } });
    const next = tab.reload();
    const again = next.once({ namespace: 'ann', ...client, store: cramped(next) });
    expect(await next.in(() => pending(again))).toMatchObject([{ resumable: false }]);
    expect(await world.end(next, pay(again, { body: LONG, ...call }))).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.server.charged.size).toBe(1);
  });
});

test('an operation with once.background whose request was not stored for lack of room is not resumed in the background', async ({ world, tab }) => {
  const once = tab.once({ namespace: 'ann', ...ONE, use: [background()], store: cramped(tab) });
  await world.end(tab, pay(once, { body: LONG, background: { untilMs: world.clock.now() + HOUR } }), lost());
  const next = tab.reload();
  expect(await resumeInBackground(next.once({ namespace: 'ann', use: [background()] }))).toEqual({ open: 0 });
  expect(world.server.arrivals).toHaveLength(1);
});

test("a machine with a wrong clock uses the store's time, even if the first write failed before the store told its time", async ({ world }) => {
  const tab = world.tab({ server: true });
  tab.skewMs = 30 * HOUR;
  let writes = 0;
  const { update } = tab.store;
  const store: Store = { ...tab.store, update: (...how) => (++writes === 1 ? Promise.reject(new Error('no connection')) : update(...how)) };
  expect((await world.end(tab, pay(tab.once({ ...KEPT, store })), lost(), answers(201))).outcome).toMatchObject({ effect: 'done' });
});

test('a first write that fails once is no lack of room: the second try stores the request', async ({ world }) => {
  const { tab, once } = world.open({ ...KEPT, ...ONE, namespace: 'ann' });
  tab.faults.next('fail-before-commit');
  await world.end(tab, pay(once), lost());
  expect(await tab.in(() => pending(once))).toMatchObject([{ resumable: true }]);
  expect(world.record()).toMatchObject({ request: { method: 'POST' } });
});

test.for([new Error('no connection'), undefined])(
  'nor is one that fails before the store is asked, as without a connection: %s',
  async (cause, { world, tab }) => {
    let writes = 0;
    const { update } = tab.store;
    const store: Store = { ...tab.store, update: (...how) => (++writes === 1 ? Promise.reject(cause) : update(...how)) };
    await world.end(tab, pay(tab.once({ ...KEPT, ...ONE, namespace: 'ann', store })), lost());
    expect(world.record()).toMatchObject({ request: { method: 'POST' } });
  },
);

test("nor is one that fails under durability: 'required'", async ({ world }) => {
  const { tab, once } = world.open({ ...KEPT, ...ONE, namespace: 'ann', durability: 'required' });
  tab.faults.next('fail-before-commit');
  await world.end(tab, pay(once), lost());
  expect(world.record()).toMatchObject({ request: { method: 'POST' } });
});

test('nor is one that fails for an edited form, after a lost answer', async ({ world }) => {
  const { tab, once } = world.open({ ...KEPT, ...ONE, namespace: 'ann' });
  await world.end(tab, pay(once), lost());
  tab.faults.next('fail-before-commit');
  await world.end(tab, pay(once, { body: 'edited' }), lost());
  expect(world.record()).toMatchObject({ request: { body: 'edited' } });
});

test('a first write that fails twice may be lack of room: the third try is without the request', async ({ world }) => {
  const { tab, once } = world.open({ ...KEPT, ...ONE, namespace: 'ann' });
  tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
  expect((await world.end(tab, pay(once), lost())).outcome).toMatchObject({ storedIn: 'disk' });
  expect(world.record()).toMatchObject({ request: undefined });
});

test('a store that does not answer is asked once: the call does not wait for it again and again', async ({ world }) => {
  const { tab, once } = world.open({ ...KEPT, namespace: 'ann' });
  tab.faults.rate('hang', 1);
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' }, ms: 10 * SECOND });
});

test('a store whose every write fails after six seconds: the record goes to memory, and the call is sent', async ({ world, tab }) => {
  const late = () => new Promise<void>((after) => void world.clock.timer(6 * SECOND, after));
  const update: Store['update'] = (...how) =>
    tab.store.update(...how).catch(async (cause: unknown) => {
      await late();
      throw cause;
    });
  tab.faults.rate('fail-before-commit', 1);
  const once = tab.once({ ...KEPT, namespace: 'ann', store: { ...tab.store, update } });
  expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ effect: 'done', storedIn: 'memory' });
});

test.for([{}, { durability: 'required' }] as const)(
  'a write that was committed although it rejected is not mistaken for the record of an earlier call: %j',
  async (how, { world }) => {
    const { tab, once } = world.open({ ...KEPT, ...how });
    tab.faults.next('fail-after-commit');
    expect(await world.end(tab, pay(once, ONE), answers(402))).toMatchObject({ outcome: { type: 'rejected', effect: 'none', resumed: false } });
    expect(world.server.arrivals).toHaveLength(1);
  },
);

test('with a key strategy, a form that is too long for the store can follow one that was stored', async ({ world, tab }) => {
  const once = tab.once({ namespace: 'ann', ...KEPT, use: [requests(), hooks()], store: cramped(tab) });
  const strategy: OperationOptions = { key: ({ generation }) => `order-${generation}` };
  await world.end(tab, pay(once, { ...ONE, ...strategy }), lost());
  expect(await world.end(tab, pay(once, { body: LONG, ...strategy }), answers(201))).toMatchObject({ status: 201 });
});
