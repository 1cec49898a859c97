/**
 * Goal: a call sends nothing more once the operation that it has seen was removed and another one begun, and goes on in every other case. Method: what a
 * call finds at its first and at its second look, as a table.
 */
import { expect, test } from 'vitest';
import type { IdempotencyKey } from '../../src/core/ids.js';
import { isStill, type Seen, see } from '../../src/core/ownership.js';
import { made } from '../support/made.js';
import { aRecord, type LooseRecord } from '../support/record.js';

const [FIRST, OTHER] = [made<IdempotencyKey>('k1'), made<IdempotencyKey>('k2')];
const record = (key: IdempotencyKey, revision: number, more: LooseRecord = {}) => aRecord({ key, revision, ...more });
const SENT = -Infinity;

test.each<[string, number, LooseRecord | undefined, LooseRecord | undefined, boolean]>([
  ['another one, begun after the removal', SENT, record(FIRST, 3), record(OTHER, 1), true],
  ['another one, begun after the removal, that has come as far', SENT, record(FIRST, 2), record(OTHER, 2), true],
  ['another one, but nothing can have been sent for the first', 1000, record(FIRST, 3), record(OTHER, 1), false],
  ['the same one', SENT, record(FIRST, 3), record(FIRST, 3), false],
  ['the same one, begun anew under its key', SENT, record(FIRST, 3), record(FIRST, 1), false],
  ['the next one, which has replaced it', SENT, record(FIRST, 2), record(OTHER, 3), false],
  ['the one before, which has come back', SENT, record(FIRST, 3, { previous: record(OTHER, 2) as never }), record(OTHER, 2), false],
  ['none', SENT, record(FIRST, 3), undefined, false],
  ['one after none', SENT, undefined, record(OTHER, 1), false],
])('the second look finds %s', (_, at, first, second, isOver) => {
  const seen: Seen = { at: Infinity, aheadMs: 0 };
  see(seen, first as never, at);
  see(seen, second as never);
  expect([!!seen.over, seen.at]).toEqual([isOver, at]);
});

test('a look that finds none in between changes nothing, and what is over stays so', () => {
  const seen: Seen = { at: SENT, aheadMs: 0 };
  for (const found of [record(FIRST, 3), undefined, record(OTHER, 1), record(OTHER, 2)]) see(seen, found as never);
  expect(seen.over).toBe(true);
});

/** A driver of another context that ended its call without a known end has given its lease back. */
test.each<[string, LooseRecord, boolean]>([
  ['its own', {}, true],
  ['its own, from which an earlier release has taken the lease', { lease: undefined }, true],
  ['that of another driver', { lease: { owner: 'other', until: 0 } }, false],
  ['a later one', { revision: 2 }, false],
  ['one that another driver began under the same key after a loss of the storage, and left', { createdAt: 1, lease: undefined }, false],
])('a driver finds %s: its record is still its own: %o', (_, found, expected) => {
  const known: LooseRecord = { lease: { owner: 'own', until: 0 } };
  expect(isStill(record(FIRST, 1, known), record(FIRST, 1, { ...known, ...found }))).toBe(expected);
});
