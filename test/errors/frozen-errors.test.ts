/**
 * Goal: where a page has frozen `Error.prototype`, as hardened pages do, calls end with the errors that they end with elsewhere. There, an
 * assignment to `name` throws. Method: the member `name` is read-only during each test, and the errors come from the real engine.
 */
import { describe, expect, onTestFinished } from 'vitest';
import { indexedDbStore, isOnceError } from '../../src/entries/index.js';
import { charged, lost } from '../support/server.js';
import { test as inWorld, ONE, pay } from '../support/world.js';

const test = inWorld.extend('frozen', { auto: true }, () => {
  const { name } = Object.getOwnPropertyDescriptors(Error.prototype);
  Object.defineProperty(Error.prototype, 'name', { ...name, writable: false });
  onTestFinished(() => void Object.defineProperty(Error.prototype, 'name', { ...name }));
});

describe('a call', () => {
  test('that nobody knows the end of rejects with an OnceError, once for each caller', async ({ world, tab, once }) => {
    world.server.plays(charged(lost()));
    const joined = pay(once, ONE).catch((error: unknown) => error);
    const { error } = await world.end(tab, pay(once, ONE));
    expect(error).toMatchObject({ name: 'OnceError', code: 'ERR_ONCE_UNKNOWN' });
    expect(String(error)).toMatch(/^OnceError: once: /);
    expect(isOnceError(await joined, 'ERR_ONCE_UNKNOWN')).toBe(true);
  });

  test('whose signal gives no reason, as on old platforms, rejects with an AbortError', async ({ world, tab, once }) => {
    const controller = new AbortController();
    const { signal } = controller;
    Object.defineProperty(signal, 'reason', { value: undefined });
    const call = pay(once, { signal });
    controller.abort();
    expect((await world.end(tab, call)).error).toMatchObject({ name: 'AbortError' });
  });
});

test('a store that the platform lacks says so by its fault, by which the next one of the chain is taken', async () => {
  // Node has no IndexedDB.
  const store = indexedDbStore();
  await expect(store.available?.()).resolves.toBe(false);
  await expect(store.read('id')).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied' });
});
