/** Goal: the memory store keeps the store contract, and what only this store promises. Method: the contract; one test for each further promise. */
import { afterAll, expect, test, vi } from 'vitest';
import { createOnce, pending } from '../../src/entries/index.js';
import { defaultMemoryStore, type MemoryMedium, memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { put, record, remove } from '../../src/testing/contract/bench.js';
import { storeContract } from '../../src/testing/store-contract.js';
import { LEAN } from '../support/texts.js';

const media = new Map<string, MemoryMedium>();
const mediumOf = (name: string): MemoryMedium => media.get(name) ?? (media.set(name, memoryMedium()).get(name) as MemoryMedium);

// In production pages the memory neither copies nor checks: only the engine stores records there, and never changes one that it has made.
const report = storeContract({
  name: 'memory',
  test: (title, run) => (LEAN && title.endsWith('no caller can change what is stored but by an update')) || test(title, run),
  open: (medium) => memoryStore({ medium: mediumOf(medium) }),
  plant: LEAN ? undefined : (medium, id, value) => mediumOf(medium).set(id, value),
});

afterAll(() => expect(new Set(report.left.map(({ because }) => because))).toEqual(new Set(['no `work` was given', ...(LEAN ? ['no `plant` was given'] : [])])));

test('stores of one medium share their records, others do not, and their scopes say so', async () => {
  const medium = memoryMedium();
  const [a, b, other] = [memoryStore({ medium }), memoryStore({ medium }), memoryStore()];
  await put(a, record('x'));
  expect(await b.read('x')).toEqual(record('x'));
  expect(await other.read('x')).toBeUndefined();
  expect(a.scope).toBe(b.scope);
  expect(a.scope).not.toBe(other.scope);
});

test('there is one default memory in a realm, whichever copy of the package asks for it', async () => {
  vi.resetModules();
  const copy = await import('../../src/stores/memory.js');
  expect(copy.defaultMemoryStore).not.toBe(defaultMemoryStore);
  const [mine, theirs] = [defaultMemoryStore(), copy.defaultMemoryStore()];
  await put(mine, record('shared'));
  expect(await theirs.read('shared')).toEqual(record('shared'));
  expect(theirs.scope).toBe(mine.scope);
});

test('closing one client of the default memory leaves it to the others', async () => {
  const [mine, theirs] = [defaultMemoryStore(), defaultMemoryStore()];
  await put(mine, record('kept'));
  await mine.close();
  await expect(mine.read('kept')).rejects.toMatchObject({ name: 'StoreFault', reason: 'closed' });
  expect(await theirs.read('kept')).toEqual(record('kept'));
});

test('an update gets the time of the store that it goes through', async () => {
  const store = memoryStore({ now: () => 42 });
  expect(await store.update('a', (_, now) => ({ value: now }))).toBe(42);
});

test('an update has taken effect when its call returns, so that a fallback cannot be overtaken', () => {
  const medium = memoryMedium();
  void put(memoryStore({ medium }), record('a'));
  expect(medium.get('a')).toEqual(record('a'));
});

if (!LEAN)
  test('a stored record is deeply frozen, and its bytes are a copy', async () => {
    const store = memoryStore();
    const bytes = new Uint8Array([1, 2]);
    await put(store, record('a', { nested: { list: [1] }, bytes }));
    bytes[0] = 9;
    const stored = (await store.read('a')) as { nested: { list: unknown[] }; bytes: Uint8Array };
    expect(() => stored.nested.list.push(2)).toThrow(TypeError);
    expect(stored.bytes).toEqual(new Uint8Array([1, 2]));
  });

test('a scan for due records returns the oldest first, whatever the spans of time between them', async () => {
  const store = memoryStore();
  const times = [5, 600_000, 599_999, 7_200_000_000, -1, 0, 1_800_000_000_000, 600_001];
  for (const forgetAt of times) await put(store, record(`t${forgetAt}`, { forgetAt }));
  const swept = (await store.scan({ before: 2_000_000_000_000, limit: 99 })).records.map((one) => (one as { forgetAt: number }).forgetAt);
  expect(swept).toEqual([...times].sort((a, b) => a - b));
  expect((await store.scan({ before: 600_000, limit: 99 })).records).toHaveLength(4);
});

test('a record whose state is damaged is kept, and no scan lists it', async () => {
  const store = memoryStore();
  await put(store, record('a', { state: 'constructor' as never }));
  expect(await store.read('a')).toMatchObject({ id: 'a' });
  expect((await store.scan({ ns: 'ns', state: 'pending', limit: 9 })).records).toEqual([]);
  await remove(store, 'a');
});

test('removed records leave nothing in the maps of the store', async () => {
  const maps: Map<unknown, unknown>[] = [];
  vi.stubGlobal(
    'Map',
    class extends Map<unknown, unknown> {
      constructor() {
        super();
        maps.push(this);
      }
    },
  );
  const store = memoryStore();
  vi.unstubAllGlobals();
  for (let n = 0; n < 100; n++) await put(store, record(`r${n}`, { ns: `ns${n}`, forgetAt: n * 1_000_000 }));
  expect(maps.map(({ size }) => size > 0)).toContain(true);
  for (let n = 0; n < 100; n++) await remove(store, `r${n}`);
  expect(maps.filter(({ size }) => size > 0)).toEqual([]);
  expect(await store.scan({ before: Number.POSITIVE_INFINITY, limit: 9 })).toEqual({ records: [] });
});

test('code that lists an operation kept in memory cannot change its meta', async () => {
  const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: () => Promise.reject(new TypeError('lost')), limits: { attempts: 1 } });
  const paid = once.fetch('https://shop.example/pay', { method: 'POST', once: { operation: ['pay', 1], meta: { total: { eur: 42 } } } });
  await expect(paid).rejects.toMatchObject({ outcome: { effect: 'unknown' } });
  const [{ meta } = {}] = await pending(once);
  expect(() => Object.assign((meta as { total: object }).total, { eur: 0 })).toThrow(TypeError);
  expect(await pending(once)).toMatchObject([{ meta: { total: { eur: 42 } } }]);
});
