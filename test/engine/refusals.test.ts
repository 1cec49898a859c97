/** Goal: what a refusal proves to the next call. Method: `refusalsOf` alone, with answers in a row. */
import { expect, test } from 'vitest';
import type { UnknownReason } from '../../src/core/codes.js';
import type { OnceRecord } from '../../src/core/record.js';
import { OPEN, REFUSED } from '../../src/core/verdict.js';
import type { AttemptResult, OperationRun } from '../../src/engine/client.js';
import { refusalsOf } from '../../src/engine/refusals.js';
import type { Refusals, Start } from '../../src/engine/stopped.js';

function refusals(record: Partial<OnceRecord> = {}): Refusals {
  const client = { platform: { clock: { now: () => 0, monotonic: () => 0 } }, registry: { degraded: new Map() }, store: {} };
  return refusalsOf({ client, seen: { aheadMs: 0 } } as unknown as OperationRun, { record, refusedOnly: false } as unknown as Start);
}

const attempt = (reading: AttemptResult['reading'], refusal?: string): AttemptResult => ({ reading, refusal, reached: true });

test.each<[string, readonly AttemptResult[], UnknownReason, true | undefined]>([
  ['is stored if the drive stops because of a refusal', [attempt(REFUSED, 'a')], 'refused', true],
  ['is not stored if an answer left open whether it had an effect', [attempt(OPEN), attempt(REFUSED, 'a')], 'refused', undefined],
  ['is not stored if the drive stops for another reason', [attempt(REFUSED, 'a')], 'aborted', undefined],
])('the fact that every attempt was refused %s', (_, attempts, reason, refusedOnly) => {
  const known = refusals({ madeAgain: true });
  for (const one of attempts) known.note(one);
  expect(known.toStore(reason)).toMatchObject({ refusedOnly });
});

test('a refusal from in front of the application does not count as one of the application, and does not show that the key is new', () => {
  const known = refusals({ madeAgain: true });
  expect(known.note(attempt({ ...REFUSED, from: 'in-front' }, 'a'))).toBeUndefined();
  expect(known.known().madeAgain).toBe(true);
  expect(known.note(attempt(REFUSED, 'a'))).toBe(0);
  expect(known.known().madeAgain).toBeUndefined();
});

test.each<[string, boolean, number]>([
  ["that a server's clock measures", true, 5000],
  ["that the device's clock measures", false, 1],
])("the age %s does not grow if somebody sets the device's clock forward", (_, ownClock, age) => {
  const clock = { wall: 0, passed: 0, now: () => clock.wall, monotonic: () => clock.passed };
  const client = { platform: { clock }, registry: { degraded: new Map() }, store: { ownClock } };
  const known = refusalsOf({ client, seen: { aheadMs: 0 } } as unknown as OperationRun, { record: {}, refusedOnly: false } as unknown as Start);
  known.leaves();
  expect(known.note(attempt(REFUSED, 'a'))).toBe(0);
  Object.assign(clock, { wall: 3_600_000, passed: 5000 });
  known.leaves();
  expect(known.note(attempt(REFUSED, 'a'))).toBe(age);
});

test('that a derived key is new is stored for the next call, and a replayed refusal does not show it', () => {
  const known = refusals({ madeAgain: true });
  known.note(attempt({ ...REFUSED, sticky: true, replayed: true }, 'a'));
  expect(known.known().madeAgain).toBe(true);
  known.note(attempt(REFUSED, 'a'));
  expect(known.toStore('aborted')).toMatchObject({ madeAgain: undefined });
});
