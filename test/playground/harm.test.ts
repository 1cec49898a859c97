/** The playground's headline counts customers who came to harm, in this run only. */
import { expect, test } from 'vitest';
import { harmOf, headlineOf } from '../../playground/page/harm.ts';
import type { CartFacts } from '../../playground/page/shop.ts';

const of = (lane: string, ...facts: readonly (readonly [made: number, ended: CartFacts['ended']])[]): CartFacts[] =>
  facts.map(([made, ended], nth) => ({ lane, cart: `c-${nth}`, ended, made }));

/** As many charges as carts, and yet. */
const EVEN = [
  [2, 'done'],
  [2, 'failed'],
  [2, 'done'],
  [0, 'failed'],
  [0, 'done'],
  [0, 'gave-up'],
  [1, 'done'],
  [1, 'done'],
  [1, 'failed'],
] as const;

test('three doubled and three lost charges are harm to six customers, not nine charges for nine carts', () => {
  expect(harmOf(of('plain fetch', ...EVEN))).toBe('3 charged twice, 3 not charged, 3 told something untrue');
});

test.each<[string, readonly (readonly [number, CartFacts['ended']])[], string]>([
  ['each once', [[1, 'done']], ''],
  ['a declined card', [[0, 'refused']], ''],
  ['a declined card that was charged', [[1, 'refused']], '1 told something untrue'],
  ['still trying', [[0, null]], ''],
  ['still trying, though charged', [[1, null]], ''],
  ['left without a word', [[1, 'gave-up']], ''],
  ['three charges', [[3, 'done']], '1 charged more than once'],
])('%s', (_, facts, said) => {
  expect(harmOf(of('plain fetch', ...facts))).toBe(said);
});

test('the headline is of the carts of this run, and says which run it is', () => {
  const facts = [...of('plain fetch', ...EVEN), ...of('oncefetch', ...EVEN.map(() => [1, 'done'] as const))];
  expect(headlineOf({ title: 'Run 1234', carts: ['c-0', 'c-3'] }, facts)).toBe(
    'Run 1234. plain fetch, 2 customers: 1 charged twice, 1 not charged. oncefetch, 2 customers: no harm.',
  );
  expect(headlineOf({ title: '', carts: ['c-0'] }, facts)).toBe('plain fetch, 1 customer: 1 charged twice. oncefetch, 1 customer: no harm.');
  expect(headlineOf({ title: 'Run 7', carts: [] }, facts)).toBe('');
});
