/** Every store of a browser against the contract, in a real one. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { firstAvailable } from '../../../src/stores/browser/first-available.js';
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';
import { localStorageStore } from '../../../src/stores/browser/local-storage.js';
import { type MemoryMedium, memoryMedium, memoryStore } from '../../../src/stores/memory.js';
import { storeContract } from '../../../src/testing/store-contract.js';
import { countCalls, plantInDatabase, withoutLocks } from './support.js';

const plantInLocalStorage = (medium: string, id: string, value: unknown): void =>
  localStorage.setItem(`${medium}/${id}`, typeof value === 'string' ? value : JSON.stringify(value));

afterEach(() => localStorage.clear());

describe('IndexedDB', () => {
  const report = storeContract({
    name: 'indexeddb',
    test,
    open: (medium) => indexedDbStore({ name: medium }),
    plant: plantInDatabase,
    work: countCalls([IDBDatabase, ['transaction']], [IDBObjectStore, ['get', 'put', 'delete', 'getAll', 'getAllKeys', 'openCursor', 'index', 'count']]),
  });
  afterAll(() => expect(report.left).toEqual([]));
});

describe('localStorage with Web Locks', () => {
  const report = storeContract({
    name: 'localstorage',
    test,
    open: (medium) => localStorageStore({ prefix: medium }),
    plant: plantInLocalStorage,
    work: countCalls([Storage, ['getItem', 'setItem', 'removeItem', 'key']]),
  });
  afterAll(() => expect(report.left).toEqual([]));
});

describe('localStorage without Web Locks', () => {
  const report = storeContract({
    name: 'localstorage',
    test,
    open: (medium) => withoutLocks(() => localStorageStore({ prefix: medium })),
    plant: plantInLocalStorage,
    work: countCalls([Storage, ['getItem', 'setItem', 'removeItem', 'key']]),
  });
  afterAll(() => expect(report.left.map(({ because }) => because)).toEqual(['the store does not claim to be atomic']));
});

describe('memory', () => {
  const media = new Map<string, MemoryMedium>();
  const mediumOf = (name: string): MemoryMedium => media.get(name) ?? (media.set(name, memoryMedium()).get(name) as MemoryMedium);
  const report = storeContract({
    name: 'memory',
    test,
    open: (medium) => memoryStore({ medium: mediumOf(medium) }),
    plant: (medium, id, value) => mediumOf(medium).set(id, value),
  });
  afterAll(() => expect(report.left.map(({ because }) => because)).toEqual(['no `work` was given']));
});

describe('the first available', () => {
  const report = storeContract({
    name: 'automatic',
    test,
    open: async (medium) => {
      const store = firstAvailable([indexedDbStore({ name: medium }), localStorageStore({ prefix: medium }), memoryStore()]);
      await store.ready();
      return store;
    },
    plant: plantInDatabase,
  });
  afterAll(() => expect(report.left.map(({ because }) => because)).toEqual(['no `work` was given']));
});
