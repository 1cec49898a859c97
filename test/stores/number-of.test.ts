/** Goal: a client of Redis or PostgreSQL has one name in all copies of the package: operations of two servers must not meet. Method: the module, loaded twice. */
import { expect, test, vi } from 'vitest';
import { numberOf } from '../../src/stores/number-of.js';

test('is the same in another copy of the package, and another one for another object', async () => {
  const [mine, theirs] = [{}, {}];
  vi.resetModules();
  const copy = await import('../../src/stores/number-of.js');
  expect(copy.numberOf).not.toBe(numberOf);
  const first = numberOf(mine);
  expect(copy.numberOf(theirs)).not.toBe(first);
  expect(copy.numberOf(mine)).toBe(first);
});
