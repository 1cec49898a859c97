/**
 * Goal: a full store costs a process a bounded amount of memory, and a call costs no more because of earlier calls. Method: a real
 * SQLite database that is full, and more operations than memory keeps for it. The test counts the statements.
 */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import type { OperationKey } from '../../src/core/ids.js';
import { registry } from '../../src/engine/registry.js';
import { createOnce, memoryStore, outcomeOf } from '../../src/entries/node.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.js';

const KEPT = 10_000;

afterEach(() => {
  vi.useRealTimers();
  registry().degraded.clear();
});

test('a full store: ten thousand operations go on in memory, then further ones reject, and none is forgotten', async () => {
  let ran = 0;
  class Counting extends DatabaseSync {
    override exec(sql: string): void {
      ran++;
      super.exec(sql);
    }
  }
  const database = new Counting(':memory:');
  const store = sqliteStore({ database });
  await store.available?.();
  database.exec('PRAGMA max_page_count = 1');
  let sent = 0;
  const once = createOnce({ namespace: 'n', store, fetch: async () => new Response(`{"n":${++sent}}`, { status: 201 }) });
  const pay = (cart: number) => once.fetch('http://localhost/pay', { method: 'POST', body: '{}', once: ['pay', cart] }).catch((error: unknown) => error);
  const statements = async (cart: number): Promise<number> => {
    const before = ran;
    await pay(cart);
    return ran - before;
  };
  const kept = () => registry().degraded.size;
  const memory = memoryStore();
  let n = 0;
  // Use up the last room in the pages of the database.
  while (kept() === 0) await pay(n++);
  const early = await statements(n++);
  for (let more = 0; more < 100; more++) await pay(n++);
  expect(await statements(n++)).toBe(early);
  // The other operations need no calls: it is enough that the registry has them.
  for (let more = 0; kept() < KEPT - 1; more++) registry().degraded.set(`another ${more}` as OperationKey, memory);
  expect(await statements(n++)).toBe(early);
  expect([sent, kept()]).toEqual([n, KEPT]);
  expect(await pay(n)).toMatchObject({ code: 'ERR_ONCE_STORE', cause: { reason: 'quota' } });
  expect([sent, kept()]).toEqual([n, KEPT]);
  // Operations that are done are still known as done.
  for (const paid of [0, n - 1]) expect(outcomeOf(await pay(paid))).toMatchObject({ effect: 'done' });
  expect(sent).toBe(n);
  database.exec('PRAGMA max_page_count = 100000');
  expect(outcomeOf(await pay(n))).toMatchObject({ effect: 'done' });
  expect([sent, kept()]).toEqual([n + 1, KEPT]);
  database.close();
});

test('a store that takes nothing: only operations in memory that are due to be forgotten make room for new ones', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const KEEP_MS = 3_600_000;
  const disk = memoryStore();
  const update: typeof disk.update = async (_, change) => {
    change(undefined, Date.now());
    throw new Error('full');
  };
  const store = { ...disk, update };
  let sent = 0;
  const verdict = ({ status }: { status: number | undefined }) => (status === 402 ? 'rejected' : undefined);
  let user = 'ann';
  const once = createOnce({
    namespace: () => user,
    store,
    verdict,
    keep: { forMs: KEEP_MS },
    fetch: async () => new Response('{}', { status: ++sent > 2 ? 201 : 402 }),
  });
  const pay = (cart: string) => once.fetch('http://localhost/pay', { method: 'POST', body: '{}', once: ['pay', cart] }).catch((error: unknown) => error);
  const { degraded } = registry();
  const names = () => [...degraded.keys()].flatMap((key) => /(declined|paid|new) \d/.exec(key)?.[0] ?? []);
  for (const cart of ['declined 1', 'declined 2', 'paid 1', 'paid 2']) await pay(cart);
  // Another user's operation with the same name.
  user = 'bob';
  await pay('declined 1');
  user = 'ann';
  for (let more = 0; degraded.size < KEPT; more++) degraded.set(`["another",${more}]` as OperationKey, disk);
  expect(await pay('new 1')).toMatchObject({ code: 'ERR_ONCE_STORE' });
  expect(names()).toEqual(['declined 1', 'declined 2', 'paid 1', 'paid 2', 'declined 1']);
  // The record of a refused operation is kept for minutes only.
  vi.advanceTimersByTime(KEEP_MS - 1000);
  expect(outcomeOf(await pay('new 1'))).toMatchObject({ effect: 'done', storedIn: 'memory' });
  expect(names()).toEqual(['paid 1', 'paid 2', 'declined 1', 'new 1']);
  expect(outcomeOf(await pay('paid 1'))).toMatchObject({ type: 'replayed' });
  expect(sent).toBe(6);
  expect(outcomeOf(await pay('new 2'))).toMatchObject({ effect: 'done' });
  expect(await pay('new 3')).toMatchObject({ code: 'ERR_ONCE_STORE' });
  // An operation that is done is forgotten at the second look after `keep.forMs`, as in any store.
  vi.advanceTimersByTime(KEEP_MS + 1000);
  expect(await pay('new 3')).toMatchObject({ code: 'ERR_ONCE_STORE' });
  expect(names()).toEqual(['paid 1', 'paid 2', 'declined 1', 'new 1', 'new 2']);
  vi.advanceTimersByTime(KEEP_MS + 1000);
  expect(outcomeOf(await pay('new 3'))).toMatchObject({ effect: 'done' });
  expect(names()).toEqual(['new 3']);
});
