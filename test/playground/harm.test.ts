/** The playground's headline counts the customers of this run who came to harm. */
import { expect, test } from 'vitest';
import { headlineOf } from '../../playground/page/harm.ts';
import type { CartFacts } from '../../playground/page/shop.ts';

const of = (lane: string, ...facts: readonly (readonly [made: number, ended: CartFacts['ended']])[]): CartFacts[] =>
  facts.map(([made, ended], nth) => ({ lane, cart: `c-${nth}`, ended, made }));

/** As many charges as carts, although six customers came to harm. */
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

const CARTS = EVEN.map((_, nth) => `c-${nth}`);
const harmIn = (lane: string, facts: readonly CartFacts[]): object | undefined =>
  headlineOf({ title: '', carts: CARTS }, facts)?.lanes.find((one) => one.lane === lane);

test('nine charges for nine carts, of which three are doubled and three are missing, are harm to six customers', () => {
  expect(harmIn('plain fetch', of('plain fetch', ...EVEN))).toEqual({ lane: 'plain fetch', customers: 9, chargedTwice: 3, notCharged: 3, toldUntrue: 3 });
});

test.each<[string, readonly [number, CartFacts['ended']], object]>([
  ['one charge', [1, 'done'], {}],
  ['a declined card', [0, 'refused'], {}],
  ['a declined card that was charged', [1, 'refused'], { toldUntrue: 1 }],
  ['still trying', [0, null], {}],
  ['still trying, though charged', [1, null], {}],
  ['one charge, though the page gave up', [1, 'gave-up'], {}],
  ['three charges', [3, 'done'], { chargedTwice: 1 }],
])('counts the harm of: %s', (_, fact, harm) => {
  const none = { lane: 'plain fetch', customers: 1, chargedTwice: 0, notCharged: 0, toldUntrue: 0 };
  expect(harmIn('plain fetch', of('plain fetch', fact))).toEqual({ ...none, ...harm });
});

test('the headline counts the carts of this run only, and names the run', () => {
  const facts = [...of('plain fetch', ...EVEN), ...of('oncefetch', ...EVEN.map(() => [1, 'done'] as const))];
  const nobody = { customers: 2, chargedTwice: 0, notCharged: 0, toldUntrue: 0 };
  expect(headlineOf({ title: 'Run 1234', carts: ['c-0', 'c-3'] }, facts)).toEqual({
    title: 'Run 1234',
    lanes: [
      { ...nobody, lane: 'plain fetch', chargedTwice: 1, notCharged: 1 },
      { ...nobody, lane: 'oncefetch' },
    ],
  });
  expect(headlineOf({ title: '', carts: ['c-0'] }, facts)?.title).toBe('Your carts');
  expect(headlineOf({ title: 'Run 7', carts: [] }, facts)).toBeUndefined();
});
