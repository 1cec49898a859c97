/**
 * Goal: a store reports "this browser has no such store" and "the browser cannot tell at the moment" as two different
 * answers. Method: fakes each way in which browsers refuse a store.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { firstAvailable } from '../../../src/stores/browser/first-available.js';
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';
import { localStorageStore } from '../../../src/stores/browser/local-storage.js';
import { StoreFault } from '../../../src/stores/fault.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { put, record } from '../../../src/testing/contract/bench.js';
import { freshName, replaceMethod, replaceProperty } from './support.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0).reverse()) restore();
  localStorage.clear();
});

const refuse = () => {
  throw new DOMException('Access is denied for this document.', 'SecurityError');
};
const withoutIndexedDb = (descriptor: PropertyDescriptor) => undo.push(replaceProperty(globalThis, 'indexedDB', descriptor));
const withoutLocalStorage = (descriptor: PropertyDescriptor) => undo.push(replaceProperty(globalThis, 'localStorage', descriptor));
const openWith = (open: () => unknown) => undo.push(replaceMethod(IDBFactory, 'open', () => open));

/** An IndexedDB request that fails like a browser's would. */
function failing(name: string): unknown {
  const request = { error: new DOMException('in whatever words', name), onerror: undefined as (() => void) | undefined };
  queueMicrotask(() => request.onerror?.());
  return request;
}

describe('IndexedDB', () => {
  test('is available if it opens', async () => expect(await indexedDbStore({ name: freshName() }).available?.()).toBe(true));

  test.each([
    ['is missing', { value: undefined }],
    ['is null, as in some web views', { value: null }],
    ['throws when it is read', { get: refuse }],
  ])('is not available if it %s', async (_, descriptor) => {
    withoutIndexedDb(descriptor);
    const store = indexedDbStore({ name: freshName() });
    expect(await store.available?.()).toBe(false);
    await expect(store.read('a')).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied' });
  });

  test('is not available if opening throws a SecurityError, as in a sandboxed frame', async () => {
    openWith(refuse);
    expect(await indexedDbStore({ name: freshName() }).available?.()).toBe(false);
  });

  test('is not available if opening fails with InvalidStateError, as in a private window of Firefox before 115', async () => {
    openWith(() => failing('InvalidStateError'));
    expect(await indexedDbStore({ name: freshName() }).available?.()).toBe(false);
  });

  test('is not available if opening fails with UnknownError and Web Locks are refused, as when the user blocks site data', async () => {
    openWith(() => failing('UnknownError'));
    undo.push(replaceMethod(LockManager, 'query', () => async () => refuse()));
    expect(await indexedDbStore({ name: freshName() }).available?.()).toBe(false);
  });

  test('may be available if opening fails with UnknownError and Web Locks work: it rejects, and can be asked again', async () => {
    openWith(() => failing('UnknownError'));
    const store = indexedDbStore({ name: freshName() });
    await expect(store.available?.()).rejects.toMatchObject({ reason: 'io', cause: { name: 'UnknownError' } });
    for (const restore of undo.splice(0).reverse()) restore();
    expect(await store.available?.()).toBe(true);
  });

  test('may be available if opening fails with UnknownError and there are no Web Locks, as on an insecure origin', async () => {
    openWith(() => failing('UnknownError'));
    undo.push(replaceProperty(navigator, 'locks', { value: undefined }));
    const store = indexedDbStore({ name: freshName() });
    await expect(store.available?.()).rejects.toMatchObject({ reason: 'io', cause: { name: 'UnknownError' } });
    for (const restore of undo.splice(0).reverse()) restore();
    expect(await store.available?.()).toBe(true);
  });

  test('may be available if the store is closed: it rejects', async () => {
    const store = indexedDbStore({ name: freshName() });
    await store.close();
    await expect(store.available?.()).rejects.toMatchObject({ reason: 'closed' });
  });
});

describe('localStorage', () => {
  test('is available in a page', async () => expect(await localStorageStore().available?.()).toBe(true));

  test.each([
    ['is missing', { value: undefined }],
    ['is null, as in some web views', { value: null }],
    ['throws when it is read', { get: refuse }],
  ])('is not available if it %s', async (_, descriptor) => {
    withoutLocalStorage(descriptor);
    expect(await localStorageStore().available?.()).toBe(false);
    await expect(localStorageStore().read('a')).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied' });
  });
});

describe('the first available store', () => {
  const chain = () => firstAvailable([indexedDbStore({ name: freshName() }), localStorageStore({ prefix: freshName() }), memoryStore()]);

  test('is IndexedDB in a browser', async () => expect((await chain().ready()).kind).toBe('indexeddb'));

  test('is localStorage if IndexedDB is refused', async () => {
    openWith(refuse);
    const store = chain();
    await put(store, record('a'));
    expect(store.kind).toBe('localstorage');
    expect(Object.keys(localStorage).some((key) => key.endsWith('/a'))).toBe(true);
  });

  test('is memory if both are refused', async () => {
    openWith(refuse);
    withoutLocalStorage({ get: refuse });
    expect((await chain().ready()).kind).toBe('memory');
  });

  test('is IndexedDB, and no other store, if it may hold earlier keys but cannot be opened now', async () => {
    openWith(() => failing('UnknownError'));
    const store = chain();
    await expect(put(store, record('a'))).rejects.toBeInstanceOf(StoreFault);
    expect(localStorage.length).toBe(0);
    for (const restore of undo.splice(0).reverse()) restore();
    await put(store, record('a'));
    expect(store.kind).toBe('indexeddb');
  });
});
