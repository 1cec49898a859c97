/**
 * Runs the store contract on the stores that exist only in browsers. `test/stores` does it for the memory store and the
 * chain of several stores.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';
import { localStorageStore } from '../../../src/stores/browser/local-storage.js';
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
