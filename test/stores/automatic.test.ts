/** Goal: the chain chooses the first available store, once, and never replaces it by another. Method: stubs with scripted answers; the store contract. */
import { afterAll, describe, expect, test } from 'vitest';
import type { Store } from '../../src/ports.js';
import { firstAvailable } from '../../src/stores/browser/first-available.js';
import { StoreFault } from '../../src/stores/fault.js';
import { type MemoryMedium, memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { put, record } from '../../src/testing/contract/bench.js';
import { faultyStore } from '../../src/testing/faulty-store.js';
import { storeContract } from '../../src/testing/store-contract.js';

/** A store that answers `available()` with these, one after the other. */
function stub(kind: string, ...answers: (boolean | Error)[]): Store & { asked: number; closed: number } {
  const store = memoryStore();
  const made = {
    ...store,
    kind,
    scope: `${kind}:x`,
    survives: 'machine',
    shared: 'origin',
    asked: 0,
    closed: 0,
    async available() {
      made.asked++;
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer instanceof Error) throw answer;
      return answer ?? true;
    },
    async close() {
      made.closed++;
      await store.close();
    },
  } satisfies Store & { asked: number; closed: number };
  return made;
}

const busy = new StoreFault('blocked', 'busy');

test('asks no store before the first use, and each store at most once', async () => {
  const [a, b, c] = [stub('a', false), stub('b', true), stub('c', true)];
  const store = firstAvailable([a, b, c]);
  expect([a.asked, b.asked, c.asked]).toEqual([0, 0, 0]);
  await Promise.all([put(store, record('x')), store.read('x'), store.scan({ before: 1, limit: 1 }), store.ready()]);
  await store.read('x');
  expect([a.asked, b.asked, c.asked]).toEqual([1, 1, 0]);
  expect(await b.read('x')).toEqual(record('x'));
});

test('takes a store that has no `available` method', async () => {
  const plain = memoryStore();
  const { available, ...silent } = plain;
  const store = firstAvailable([stub('a', false), silent]);
  expect((await store.ready()).scope).toBe(plain.scope);
});

test('declares the least before the choice, and what the chosen store declares after it', async () => {
  const store = firstAvailable([stub('a', false), stub('b', true)]);
  expect(store).toMatchObject({ kind: 'automatic', survives: 'context', shared: 'context', atomic: false });
  await store.ready();
  expect(store).toMatchObject({ kind: 'b', survives: 'machine', shared: 'origin', atomic: true });
});

test('has one scope before and after the choice, and the same as any other over the same first store', async () => {
  const store = firstAvailable([stub('a', false), stub('b', true)]);
  const before = store.scope;
  await store.ready();
  expect(store.scope).toBe(before);
  expect(firstAvailable([stub('a', true)]).scope).toBe(before);
});

test('rejects while a store cannot say whether it is available, and asks again from the first store at the next call', async () => {
  const [a, b] = [stub('a', busy, busy, true), stub('b', true)];
  const store = firstAvailable([a, b]);
  await expect(put(store, record('x'))).rejects.toBe(busy);
  await expect(store.ready()).rejects.toBe(busy);
  await put(store, record('x'));
  expect(store.kind).toBe('a');
  expect(b.asked).toBe(0);
  expect(await b.read('x')).toBeUndefined();
});

test('does not move on when the chosen store fails, even if the next one is available', async () => {
  const first = faultyStore(memoryStore());
  const second = stub('b', true);
  const store = firstAvailable([first, second]);
  await store.ready();
  first.faults.next('look-fails', 'fail-before-commit', 'full');
  await expect(store.read('x')).rejects.toThrow('look-fails');
  await expect(put(store, record('x'))).rejects.toThrow('fail-before-commit');
  await expect(put(store, record('x'))).rejects.toMatchObject({ reason: 'quota' });
  await put(store, record('x'));
  expect(await first.read('x')).toEqual(record('x'));
  expect([second.asked, await second.read('x')]).toEqual([0, undefined]);
});

test('rejects when no store is available', async () => {
  const store = firstAvailable([stub('a', false), stub('b', false)]);
  await expect(store.read('x')).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied' });
});

test('closes every store, including those that it did not choose', async () => {
  const [a, b] = [stub('a', true), stub('b', true)];
  const store = firstAvailable([a, b]);
  await store.ready();
  await store.close();
  expect([a.closed, b.closed]).toEqual([1, 1]);
  await expect(store.read('x')).rejects.toMatchObject({ reason: 'closed' });
});

test('passes on the value, the durability and the error of a change', async () => {
  const inner = stub('a', true);
  const asked: unknown[] = [];
  const { update } = inner;
  const watched: Store['update'] = (...args) => {
    asked.push(args[2]);
    return update(...args);
  };
  const store = firstAvailable([{ ...inner, update: watched }]);
  expect(await store.update('x', () => ({ value: 7 }), { durability: 'relaxed' })).toBe(7);
  await expect(
    store.update('x', () => {
      throw busy;
    }),
  ).rejects.toBe(busy);
  expect(asked).toEqual([{ durability: 'relaxed' }, undefined]);
});

describe('keeps the contract of the store that it chose', () => {
  const media = new Map<string, MemoryMedium>();
  const mediumOf = (name: string): MemoryMedium => media.get(name) ?? (media.set(name, memoryMedium(name)).get(name) as MemoryMedium);
  const report = storeContract({
    name: 'automatic',
    test,
    open: async (medium) => {
      const store = firstAvailable([{ ...stub('a', false), scope: medium }, memoryStore({ medium: mediumOf(medium) })]);
      await store.ready();
      return store;
    },
    plant: (medium, id, value) => mediumOf(medium).set(id, value),
  });
  afterAll(() => expect(report.left.map(({ because }) => because)).toEqual(['no `work` was given']));
});
