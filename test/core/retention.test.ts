/**
 * Goal: a sweep removes at its first look only records whose loss cannot lead to a second effect. All others get a second look, because the
 * clock may be wrong for a moment.
 */
import { expect, test } from 'vitest';
import { afterSweep, mayArrive } from '../../src/core/retention.js';
import { made } from '../support/made.js';
import { aRecord, type LooseRecord, NOW } from '../support/record.js';

const DAY = 86_400_000;
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

test.each<[string, number, boolean]>([
  ['ran out less than an attempt ago', NOW - 29_000, true],
  ['ran out longer ago', NOW - 31_000, false],
  ['was written with a clock that is days ahead', NOW + 2 * DAY, false],
])('an attempt of a driver whose lease %s may arrive: %s', (_, until, may) => {
  expect(mayArrive(aRecord({ lease: { owner: 'me', until } }), { attemptMs: 30_000, totalMs: 120_000 }, NOW)).toBe(may);
});

const LIMITS = { attemptMs: 30_000, totalMs: 120_000 };

test.each<[string, number, boolean]>([
  ['until later than that of its driver', NOW + 1000, true],
  ['no longer', NOW, false],
  ['until days later, by a clock that was wrong', NOW + 3 * DAY, false],
])('an attempt of an earlier driver may arrive %s', (_, earlier, may) => {
  expect(mayArrive(aRecord({ lease: { owner: 'me', until: NOW - 60_000, earlier } }), LIMITS, NOW)).toBe(may);
});
