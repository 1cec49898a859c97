/** Goal: where two operations become one, a driver that has no lease counts as alive: its last attempt may have begun just now. */
import { expect, test } from 'vitest';
import { joined } from '../../src/core/joined.js';
import { aRecord, NOW } from '../support/record.js';

test('the attempts of a driver without a lease may arrive until the longest attempt that begins now has ended', () => {
  const { next } = joined(aRecord(), aRecord(), { attemptMs: 30_000, totalMs: 120_000 }, NOW);
  expect(next?.lease).toEqual({ owner: 'moved', until: NOW + 30_000 });
});
