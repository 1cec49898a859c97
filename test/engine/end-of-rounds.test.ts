/**
 * Goal: listeners that have heard of an attempt hear of the end, also if the call ends after its keys turned out to be used up. Method: the server
 * repeats its refusal of earlier calls, or its answer to an earlier payload.
 */
import { expect } from 'vitest';
import { subscribe } from '../../src/entries/index.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { ONE, type Page, pay, test } from '../support/world.js';

/** The types of the events that listeners hear from now on. */
function heardBy({ tab, once }: Page): string[] {
  const heard: string[] = [];
  tab.in(() => subscribe(once, ({ type }) => void heard.push(type)));
  return heard;
}

test('three keys of the app that are used up', async ({ world, one }) => {
  const heard = heardBy(one);
  const key = ({ generation }: { readonly generation: number }) => `order-${generation}`;
  const refuses = replays(402, { code: 'declined' });
  const { code, outcome } = await world.end(one.tab, pay(one.once, { ...ONE, key }), refuses, refuses, refuses);
  expect([code, outcome]).toMatchObject(['ERR_ONCE_UNKNOWN', { effect: 'unknown', reason: 'unavailable' }]);
  expect(heard).toEqual(['attempt', 'attempt', 'attempt', 'unknown']);
});

test('a key of the app that an earlier payload has used up', async ({ world, one }) => {
  const press = { ...ONE, key: 'order-1', repeat: 'always' } as const;
  await world.end(one.tab, pay(one.once, press), charged(lost()));
  const heard = heardBy(one);
  const { code } = await world.end(one.tab, pay(one.once, { ...press, body: { cart: 'c1', amount: 12 } }), replays());
  expect(code).toBe('ERR_ONCE_KEY_BURNT');
  expect(heard).toEqual(['attempt', 'settled']);
});

test('a key that is used up, and another one that is not', async ({ world, one }) => {
  const heard = heardBy(one);
  const key = ({ generation }: { readonly generation: number }) => `order-${generation}`;
  await world.end(one.tab, pay(one.once, { ...ONE, key }), replays(402, { code: 'declined' }), answers(201));
  expect(heard).toEqual(['attempt', 'attempt', 'settled']);
});
