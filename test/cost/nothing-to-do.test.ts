/**
 * Goal: a call with which oncefetch has nothing to do costs nothing: no store, no digest, no timer, no lock, no random number, no listener; and fetch gets the
 * very arguments. Method: a platform and a store that note all their calls.
 */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Feature, OnceRequestInit } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { createOn } from '../../src/once.js';
import { newWorld } from '../support/world.js';

const URL_ = 'https://shop.example/notes';
const ELSEWHERE = 'https://metrics.example/collect';

/** `of`, which notes in `steps` every call of its functions, and of those of the objects in it. */
function noting<T extends object>(of: T, at: string, steps: string[]): T {
  return new Proxy(of, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      const here = `${at}${String(name)}`;
      if (typeof value === 'object' && value !== null) return noting(value, `${here}.`, steps);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        steps.push(here);
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
}

/** What one call made oncefetch do, and what fetch was given. What making the client did is left out. */
async function watched(
  input: RequestInfo | URL,
  init: OnceRequestInit | undefined,
  use: readonly Feature[] = everything(),
): Promise<{ steps: readonly string[]; given: readonly unknown[][] }> {
  const world = newWorld();
  const tab = world.tab();
  const steps: string[] = [];
  const given: unknown[][] = [];
  const answer = new Response('hello');
  const fetch = (...args: unknown[]) => {
    given.push(args);
    return Promise.resolve(answer);
  };
  const once = tab.in(() => createOn(noting(tab.platform, '', steps), { namespace: 'ann', store: noting(tab.store, 'store.', steps), fetch, use }));
  steps.splice(0);
  const timers = world.clock.pending;
  expect(await tab.in(() => once.fetch(input, init)), 'the very answer').toBe(answer);
  expect([world.clock.pending, world.locks.names]).toEqual([timers, []]);
  return { steps, given };
}

const { signal } = new AbortController();
const stream = new Blob(['x']).stream();

test.each<[string, RequestInfo | URL, RequestInit | undefined, string[]]>([
  ['a GET', URL_, undefined, ['clock.now']],
  ['a GET with options', URL_, { headers: { accept: 'text/x' }, cache: 'no-store', signal }, ['clock.now']],
  ['a Request', new Request(URL_), undefined, ['clock.now']],
  ['a HEAD', URL_, { method: 'HEAD' }, ['clock.now']],
  ['a PUT', URL_, { method: 'PUT', body: '{}' }, ['resolve', 'clock.now']],
  ['a PUT with a stream', URL_, { method: 'PUT', body: stream }, ['resolve', 'clock.now']],
  ['a DELETE', URL_, { method: 'DELETE' }, ['resolve', 'clock.now']],
  ['a GET in mode no-cors', ELSEWHERE, { mode: 'no-cors' }, ['clock.now']],
  ['a POST to another origin than the page', ELSEWHERE, { method: 'POST', body: '{}', signal }, ['resolve']],
  ['a POST in mode no-cors', URL_, { method: 'POST', body: '{}', mode: 'no-cors' }, ['resolve']],
  ['a POST with a stream', URL_, { method: 'POST', body: stream }, ['resolve']],
  ['a query in GraphQL', URL_, { method: 'POST', body: '{"query":"query { a }"}' }, ['resolve']],
])('%s: reads the clock and resolves the URL at most', async (_, input, init, expected) => {
  const { steps, given } = await watched(input, init);
  expect(steps).toEqual(expected);
  expect(given).toHaveLength(1);
  expect(given[0]?.[0], 'the very input').toBe(input);
  if (init) expect(given[0]?.[1], 'the very options').toBe(init);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a GET without features: nothing at all', async () => {
  const { steps, given } = await watched(URL_, undefined, []);
  expect(steps).toEqual([]);
  expect(given[0]?.[0]).toBe(URL_);
});

test('once: false: nothing at all, and fetch does not see the option', async () => {
  const body = new Blob(['x']);
  const { steps, given } = await watched(URL_, { method: 'POST', body, once: false });
  expect(steps).toEqual([]);
  expect(given).toEqual([[URL_, { method: 'POST', body }]]);
});
