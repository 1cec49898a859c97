/**
 * Goal: who listens hears that a page keeps its records in memory, because its browser has no IndexedDB or refuses it, at each
 * operation; and does not hear it of a memory that the app has chosen. Method: clients with the default store, without a database.
 */
import { afterEach, expect, test, vi } from 'vitest';
import type { OnceEvent } from '../../src/core/event.js';
import { outcomeOf } from '../../src/engine/outcome-of.js';
import { subscribe } from '../../src/features/events.js';
import { createOn } from '../../src/once.js';
import type { OnceOptions } from '../../src/option-types.js';
import { browserPlatform } from '../../src/platform/browser/index.js';
import { firstAvailable } from '../../src/stores/browser/first-available.js';
import { indexedDbStore } from '../../src/stores/browser/indexeddb.js';
import { memoryStore } from '../../src/stores/memory.js';
import { faultyStore } from '../../src/testing/faulty-store.js';

afterEach(() => vi.unstubAllGlobals());

let page = 0;

async function told(options: OnceOptions, calls = 2) {
  page++;
  const once = createOn(browserPlatform(), { namespace: 'u-1', fetch: async () => new Response('{}', { status: 201 }), ...options });
  const heard: (readonly [string, string])[] = [];
  const off = subscribe(once, (event: OnceEvent) => void (event.type === 'diagnostic' && heard.push([event.code, event.message])));
  const stored: unknown[] = [];
  for (let call = 0; call < calls; call++)
    stored.push(outcomeOf(await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', page, call] }))?.storedIn);
  off();
  return { heard, stored };
}

const ONE = ['store-degraded', 'kept in memory: no store here'];
const TOLD = [ONE, ONE];

test('without IndexedDB', async () => {
  expect(await told({})).toEqual({ heard: TOLD, stored: ['memory', 'memory'] });
});

test('with an IndexedDB that is refused', async () => {
  vi.stubGlobal('indexedDB', {
    open() {
      throw new DOMException('refused', 'SecurityError');
    },
  });
  expect(await told({ store: firstAvailable([indexedDbStore({ name: 'refused' }), memoryStore()]) })).toEqual({ heard: TOLD, stored: ['memory', 'memory'] });
});

test.each([
  ['alone', () => memoryStore()],
  ['as the first of several', () => firstAvailable([memoryStore(), indexedDbStore({ name: 'never' })])],
  ['in a store with faults', () => faultyStore(memoryStore())],
])('in a memory that the app has chosen, %s: nothing is told', async (_, store) => {
  expect(await told({ store: store() })).toEqual({ heard: [], stored: ['memory', 'memory'] });
});
