/** Goal: each fault does what its name says, to the calls that it is for, and nothing else. Method: script each fault over a memory store. */
import { test as anyTest, expect } from 'vitest';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { put, record, remove } from '../../src/testing/contract/bench.js';
import { faultyStore, StoreFaults, storeFaultNames } from '../../src/testing/faulty-store.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { storeContract } from '../../src/testing/store-contract.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';

function bench() {
  const inner = memoryStore();
  const clock = virtualClock();
  const store = faultyStore(inner, { clock });
  return { inner, clock, store, faults: store.faults };
}

const test = anyTest
  .extend('parts', () => bench())
  .extend('store', ({ parts }) => parts.store)
  .extend('faults', ({ parts }) => parts.faults);

/** The state of a promise after a few microtasks. */
async function fate(work: Promise<unknown>): Promise<string> {
  const turns = async () => {
    for (let n = 0; n < 20; n++) await Promise.resolve();
    return 'pending';
  };
  return Promise.race([
    work.then(
      () => 'resolved',
      () => 'rejected',
    ),
    turns(),
  ]);
}

const query = { ns: 'ns', state: 'pending', limit: 9 } as const;

const media = new Map<string, ReturnType<typeof memoryMedium>>();
storeContract({
  name: 'a faulty store without faults',
  test,
  open: (name) => {
    const medium = media.get(name) ?? memoryMedium();
    media.set(name, medium);
    return faultyStore(memoryStore({ medium }));
  },
});

test('passes on where records are stored, and whether a holder is gone', async () => {
  const inner = { ...memoryStore(), storedIn: () => 'session' as const, holder: async () => 'me', isGone: async (holder: string) => holder === 'them' };
  const store = faultyStore(inner);
  expect([store.storedIn?.(), await store.holder?.(), await store.isGone?.('them'), await store.isGone?.('me')]).toEqual(['session', 'me', true, false]);
  expect(Object.keys(faultyStore(memoryStore()))).not.toContain('holder');
});

test('fail-before-commit lets the change look, stores nothing and rejects', async ({ store, faults }) => {
  faults.next('fail-before-commit');
  let seen: unknown = 'nothing';
  const write = store.update('a', (current) => {
    seen = current;
    return { next: record('a'), value: 1 };
  });
  await expect(write).rejects.toMatchObject({ name: 'StoreFault', reason: 'io' });
  expect(seen).toBeUndefined();
  expect(await store.read('a')).toBeUndefined();
});

test('fail-after-commit stores and rejects', async ({ store, faults }) => {
  faults.next('fail-after-commit');
  await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'io' });
  expect(await store.read('a')).toEqual(record('a'));
});

test('hang never answers, and nothing is stored', async () => {
  const { store, inner, faults } = bench();
  faults.next('hang', 'hang', 'hang');
  expect([await fate(put(store, record('a'))), await fate(store.read('a')), await fate(store.scan(query))]).toEqual(['pending', 'pending', 'pending']);
  expect(await inner.read('a')).toBeUndefined();
});

test('hang-after-commit stores and never answers', async () => {
  const { store, inner, faults } = bench();
  faults.next('hang-after-commit');
  expect(await fate(put(store, record('a')))).toBe('pending');
  expect(await inner.read('a')).toEqual(record('a'));
});

test('slow begins a call only after its time, on the given clock', async () => {
  const { store, inner, clock, faults } = bench();
  faults.next({ name: 'slow', ms: 500 }, 'slow');
  const write = put(store, record('a'));
  await clock.advance(499);
  expect(await inner.read('a')).toBeUndefined();
  await clock.advance(1);
  await write;
  expect(await inner.read('a')).toEqual(record('a'));
  const look = store.read('a');
  await clock.advance(999);
  expect(await fate(look)).toBe('pending');
  await clock.advance(1);
  expect(await look).toEqual(record('a'));
});

test('look-fails rejects every kind of call, and the change sees nothing', async ({ store, faults }) => {
  faults.next('look-fails', 'look-fails', 'look-fails');
  let calls = 0;
  await expect(store.update('a', () => ({ value: calls++ }))).rejects.toMatchObject({ reason: 'io' });
  await expect(store.read('a')).rejects.toMatchObject({ reason: 'io' });
  await expect(store.scan(query)).rejects.toMatchObject({ reason: 'io' });
  expect(calls).toBe(0);
});

test('full refuses an update that needs more room than the record had, and no other update', async ({ store, faults }) => {
  await put(store, record('a', { body: 'xxxx' }));
  faults.rate('full', 1);
  await expect(put(store, record('b'))).rejects.toMatchObject({ reason: 'quota' });
  await expect(put(store, record('a', { body: 'xxxxx' }))).rejects.toMatchObject({ reason: 'quota' });
  await put(store, record('a', { body: 'x' }));
  expect(await store.read('a')).toEqual(record('a', { body: 'x' }));
  await remove(store, 'a');
  expect([await store.read('a'), await store.read('b')]).toEqual([undefined, undefined]);
  expect(faults.fired.full).toBe(2);
});

test('evict empties the store before the call', async ({ store, faults }) => {
  for (let n = 0; n < 250; n++) await put(store, record(`r${n}`, { ns: `ns${n % 3}` }));
  faults.next('evict');
  expect(await store.read('r1')).toBeUndefined();
  expect((await store.scan({ before: Number.POSITIVE_INFINITY, limit: 9 })).records).toEqual([]);
  faults.next('evict');
  await store.read('r1');
  expect(faults.fired.evict).toBe(1);
});

test('tear leaves the first half of the record, permanently', async ({ store, faults }) => {
  await put(store, record('a'));
  faults.next('tear');
  const torn = await store.read('a');
  expect(JSON.stringify(record('a')).startsWith(torn as string)).toBe(true);
  expect(await store.read('a')).toBe(torn);
  expect((await store.scan(query)).records).toEqual([]);
});

test('corrupt changes one field of the record, permanently, and a change sees it', async ({ store, faults }) => {
  await put(store, record('a', { key: '8e03978e-40d5-43e8-bc93-6894a57f9324' }));
  faults.next('corrupt');
  const seen = await store.update('a', (current) => ({ value: current }));
  expect(seen).toEqual(record('a', { key: 'e03978e-40d5-43e8-bc93-6894a57f9324' }));
  expect(await store.read('a')).toEqual(seen);
});

test('tear and corrupt do not make up a record that is absent', async ({ store, faults }) => {
  faults.next('tear', 'corrupt');
  expect([await store.read('a'), await store.read('a')]).toEqual([undefined, undefined]);
  expect([faults.fired.tear, faults.fired.corrupt]).toEqual([0, 0]);
});

test('each call takes one entry of the script, and a fault waits for a call that it can hit', async ({ store, faults }) => {
  faults.next('none', 'fail-after-commit', 'look-fails');
  await store.read('a');
  await store.read('a');
  await store.scan(query);
  await expect(put(store, record('a'))).rejects.toThrow('fail-after-commit');
  await expect(store.read('a')).rejects.toThrow('look-fails');
  await put(store, record('a'));
  expect(faults.fired).toMatchObject({ 'fail-after-commit': 1, 'look-fails': 1, hang: 0 });
});

test('clear ends all faults', async ({ store, faults }) => {
  faults.next('look-fails');
  faults.rate('fail-before-commit', 1);
  faults.clear();
  await put(store, record('a'));
  expect(await store.read('a')).toEqual(record('a'));
});

test('random faults repeat with their seed, and come about as often as their rate says', async () => {
  const run = async (seed: number): Promise<string> => {
    const { store, faults } = bench();
    faults.rate('fail-before-commit', 0.2, seededRandom(seed));
    faults.rate('fail-after-commit', 0.1, seededRandom(seed + 1));
    let text = '';
    for (let n = 0; n < 300; n++) text += (await fate(put(store, record('a', { n }))))[2];
    expect(faults.fired['fail-before-commit']).toBeGreaterThan(30);
    expect(faults.fired['fail-before-commit']).toBeLessThan(90);
    return text;
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(1)).not.toBe(await run(3));
});

test('several stores can share one script', async () => {
  const faults = new StoreFaults();
  const [a, b] = [faultyStore(memoryStore(), { faults }), faultyStore(memoryStore(), { faults })];
  faults.next('look-fails', 'look-fails');
  await expect(a.read('x')).rejects.toThrow('look-fails');
  await expect(b.read('x')).rejects.toThrow('look-fails');
  expect(faults.fired['look-fails']).toBe(2);
});

test('a wrong name or probability throws an error that names it', () => {
  const faults = new StoreFaults();
  expect(() => faults.next('hangs' as never)).toThrow(/"hangs".*fail-before-commit/);
  expect(() => faults.rate('hang', 1.5)).toThrow(/1\.5/);
  expect(storeFaultNames).toHaveLength(10);
});

test('passes on what the store declares', async () => {
  const { store, inner } = bench();
  expect(store).toMatchObject({ kind: 'memory', scope: inner.scope, survives: 'context', shared: 'context', atomic: true });
  expect(await store.available?.()).toBe(true);
  expect(await store.ready?.()).toBe(store);
  await store.close();
  await expect(inner.read('a')).rejects.toMatchObject({ reason: 'closed' });
});

test('a rate of 0 turns the trouble off, and no other one', async ({ store, faults }) => {
  faults.rate('full', 1);
  faults.rate('slow', 1);
  await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'quota' });
  faults.rate('slow', 0);
  await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'quota' });
  faults.rate('full', 0);
  await expect(fate(put(store, record('a')))).resolves.toBe('resolved');
  faults.rate('full', 1);
  await expect(put(store, record('b'))).rejects.toMatchObject({ reason: 'quota' });
});
