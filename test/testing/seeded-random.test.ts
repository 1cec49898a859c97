/** Goal: a test can repeat its random faults from their seed. Method: compare sequences of numbers. */
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/testing/seeded-random.js';

const take = (seed: number, count: number) => Array.from({ length: count }, seededRandom(seed));

describe('seededRandom', () => {
  test('repeats itself for a seed and differs for another', () => {
    expect(take(7, 50)).toEqual(take(7, 50));
    expect(take(7, 50)).not.toEqual(take(8, 50));
  });

  test('gives the numbers of mulberry32, so that seeds keep their meaning', () => {
    // Computed with the reference in https://github.com/bryc/code for seed 1.
    expect(take(1, 3).map((number) => Math.floor(number * 2 ** 32))).toEqual([2693262067, 11749833, 2265367787]);
  });

  test('stays within [0, 1) and spreads evenly', () => {
    const numbers = take(3, 20_000);
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = numbers.filter((number) => Math.floor(number * 10) === tenth).length / numbers.length;
      expect(share).toBeGreaterThan(0.09);
      expect(share).toBeLessThan(0.11);
    }
  });
});
