/**
 * Goal: a sweep removes at its first look only records whose loss cannot lead to a second effect. All others get a second look, because the
 * clock may be wrong for a moment. And a lease tells until when an attempt may arrive, but not one that was written with a wrong clock.
 */
import { expect, test } from 'vitest';
import type { Claimant } from '../../src/core/claimant.js';
import { afterSweep, leaseHolds, leaseOf, leaseOfMove, mayArrive } from '../../src/core/retention.js';
import { made } from '../support/made.js';
import { aRecord, type LooseRecord, NOW } from '../support/record.js';

const DAY = 86_400_000;
const LIMITS = { attemptMs: 30_000, totalMs: 120_000 };
const UNNAMED: LooseRecord = { label: made('~digest') };

test.each<[string, LooseRecord, boolean]>([
  ['pending', {}, true],
  ['pending, of a call without a name', UNNAMED, true],
  ['settled', { state: 'settled' }, true],
  ['settled, of a call without a name, which answers only calls that wait for it', { state: 'settled', ...UNNAMED }, false],
  ['retired, with a random key', { state: 'retired' }, false],
  ['retired, with a key that stays in use', { state: 'retired', keyInUse: true }, true],
  ['retired, with a key that can be made again', { state: 'retired', random: false }, true],
])('a due record that is %s', (_, record, getsSecondLook) => {
  const due = aRecord({ touchedAt: NOW - DAY, ...record });
  const next = afterSweep(due, NOW);
  expect(next !== null).toBe(getsSecondLook);
  if (next) expect(next).toMatchObject({ dueAt: NOW, forgetAt: NOW + DAY });
  if (next) expect(afterSweep(next, NOW + 2 * DAY)).toBeNull();
});

test.each([NOW, NOW + DAY])('a record that was written when it was due, or later, gets the longest pause before the second look', (touchedAt) => {
  expect(afterSweep(aRecord({ touchedAt }), NOW)).toMatchObject({ forgetAt: NOW + 7 * DAY });
});

test.each<[string, number, boolean]>([
  ['ran out less than an attempt ago', NOW - 29_999, true],
  ['ran out an attempt ago', NOW - 30_000, false],
  ['was written with a clock that is a day ahead', NOW + DAY, false],
])('an attempt of a driver whose lease %s may arrive: %s', (_, until, may) => {
  expect(mayArrive(aRecord({ lease: { owner: 'me', until } }), LIMITS, NOW)).toBe(may);
});

test('a lease of a day was written with a wrong clock: nobody holds it, and the next driver does not count it', () => {
  const before = { owner: 'other', until: NOW + DAY };
  expect(leaseHolds(before, NOW)).toBe(false);
  expect(leaseOf({ owner: 'me', leaseMs: 15_000, ...LIMITS } as Claimant, NOW, before)).toEqual({ owner: 'me', until: NOW + 15_000, ms: 30_000 });
});

test('what is moved while it is driven is held until the attempt has ended, also one of days', () => {
  const lease = leaseOfMove(aRecord(), true, LIMITS, NOW);
  expect(lease).toEqual({ owner: 'moved', until: NOW + 30_000 });
  const ofDays = leaseOfMove(aRecord(), true, { attemptMs: 3 * DAY, totalMs: 3 * DAY }, NOW);
  expect(leaseHolds(ofDays, NOW)).toBe(true);
});

test('what is moved after a call that only its function outlives keeps no driver out, unless a next call drives it', () => {
  const lease = { owner: 'me+', until: NOW + 1000, locked: true };
  const moved = (driven: boolean) => leaseHolds(leaseOfMove(aRecord({ lease }), driven, LIMITS, NOW), NOW);
  expect([moved(false), moved(true)]).toEqual([false, true]);
});

test('nor does an attempt of days that an earlier driver made give what is moved a lease that would count as written with a wrong clock', () => {
  const lease = { owner: 'me', until: NOW, ms: DAY - 1, earlier: NOW + 1.5 * DAY };
  expect(leaseHolds(leaseOfMove(aRecord({ lease }), true, LIMITS, NOW), NOW)).toBe(true);
});

test('an attempt of days may arrive for a day', () => {
  const until = (ago: number) => mayArrive(aRecord({ lease: { owner: 'me', until: NOW - ago, ms: 3 * DAY } }), LIMITS, NOW);
  expect([until(DAY - 2), until(DAY - 1)]).toEqual([true, false]);
});

test('a refused operation whose key stays in use is moved without a lease: no attempt is on its way', () => {
  expect(leaseOfMove(aRecord({ state: 'retired', keyInUse: true }), true, LIMITS, NOW)).toBeUndefined();
});

test.each<[string, number, boolean]>([
  ['until later than that of its driver', NOW + 1000, true],
  ['no longer', NOW, false],
  ['until days later, by a clock that was wrong', NOW + 3 * DAY, false],
])('an attempt of an earlier driver may arrive %s', (_, earlier, may) => {
  expect(mayArrive(aRecord({ lease: { owner: 'me', until: NOW - 60_000, earlier } }), LIMITS, NOW)).toBe(may);
});

test('the lease of a driver that has no name of its own has an empty one, and never that of a move', () => {
  expect(leaseOf({ leaseMs: 1000, ...LIMITS } as Claimant, NOW)).toMatchObject({ owner: '', until: NOW + 1000 });
});

test.each([
  [NOW + DAY - 1, true],
  [NOW + DAY, false],
])('what a lease says of an earlier driver counts if it is less than a day after the last attempt of its own: %i', (earlier, counts) => {
  const lease = { owner: 'me', until: NOW - LIMITS.attemptMs, earlier };
  expect(mayArrive(aRecord({ lease }), LIMITS, NOW)).toBe(counts);
});
