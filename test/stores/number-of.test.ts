/** Goal: a Redis or PostgreSQL client has one number in all copies of the package: two servers must not share operations. Method: load the module twice. */
import { expect, test, vi } from 'vitest';
import { numberOf } from '../../src/stores/number-of.js';

test('the number of an object is the same in another copy of the package, and differs for another object', async () => {
  const [mine, theirs] = [{}, {}];
  vi.resetModules();
  const copy = await import('../../src/stores/number-of.js');
  expect(copy.numberOf).not.toBe(numberOf);
  const first = numberOf(mine);
  expect(copy.numberOf(theirs)).not.toBe(first);
  expect(copy.numberOf(mine)).toBe(first);
});
