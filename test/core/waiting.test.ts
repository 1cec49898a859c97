/** Goal: every wait is a sensible number, whatever the server says and whatever the random number is. Method: tables, and properties over garbage. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../src/core/backoff.js';
import type { OnceRecord } from '../../src/core/record.js';
import { isKeyTooOld, pastWindow, retiredForgetAt, settledForgetAt, unsettledForgetAt } from '../../src/core/retention.js';
import { retryAfterMs } from '../../src/core/retry-after.js';
import { text } from '../support/arbitraries.js';

const NOW = Date.UTC(2026, 10, 20, 12);
const YEAR = 31_536_000_000;
const DAY = 86_400_000;
const asked = (headers: Record<string, string>) => retryAfterMs((name) => headers[name] ?? null, NOW);

describe('backoff', () => {
  const delays = { minDelayMs: 500, maxDelayMs: 15_000, factor: 2 };

  test('grows by its factor up to its maximum', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 100, 1e9].map((failed) => backoffMs(delays, failed, 0.999_999_999))).toEqual([
      500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000,
    ]);
  });

  test('is drawn from the whole range, zero included', () => {
    expect(backoffMs(delays, 3, 0)).toBe(0);
    expect(backoffMs(delays, 3, 0.25)).toBe(500);
    expect(backoffMs(delays, 3, 0.5)).toBe(1000);
  });

  test('is always a whole number within its bounds', () => {
    const any = fc.record({
      minDelayMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      maxDelayMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
      factor: fc.double({ min: 1, max: 1e6, noNaN: true }),
    });
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 1e6 }), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (backoff, failed, random) => {
        const ms = backoffMs(backoff, failed, random);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(Math.ceil(backoff.maxDelayMs));
      }),
    );
  });
});

describe('Retry-After', () => {
  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '120' }, 120_000],
    [{ 'retry-after': ' 120 ' }, 120_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Friday, 20-Nov-26 12:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Fri Nov 20 12:00:30 2026' }, 30_000],
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after-ms': '1500.2' }, 1501],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9000],
    [{ 'retry-after-ms': ' 1500 ' }, 1500],
    [{ 'retry-after-ms': '1.25' }, 2],
    [{ 'retry-after-ms': 'x15', 'retry-after': '9' }, 9000],
    [{ 'retry-after-ms': '15x', 'retry-after': '9' }, 9000],
    [{ 'retry-after': '1.25' }, 1250],
    [{ 'retry-after': 'x9' }, undefined],
    [{ 'retry-after-ms': '', 'retry-after': '9' }, 9000],
    [{}, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': '+5' }, undefined],
    [{ 'retry-after': '5s' }, undefined],
    [{ 'retry-after': '0x10' }, undefined],
    [{ 'retry-after': 'Infinity' }, undefined],
    [{ 'retry-after': 'Fri, 20 Nov 2026 11:59:59 GMT' }, undefined],
    [{ 'retry-after': 'x Fri, 20 Nov 2026 12:00:30 GMT' }, undefined],
    [{ 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT+1' }, undefined],
    [{ 'retry-after': 'Fri, 32 Nov 2026 12:00:30 GMT' }, undefined],
    [{ 'retry-after': '9'.repeat(400) }, YEAR],
    [{ 'retry-after': 'Fri, 20 Nov 9999 12:00:30 GMT' }, YEAR],
  ])('%j is %j', (headers, ms) => expect(asked(headers)).toBe(ms));

  test('gives undefined or a whole number of ms up to a year, whatever the headers say', () => {
    const value = fc.oneof(
      fc.string(),
      text(0, 20),
      fc.double().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.bigInt().map(String),
    );
    fc.assert(
      fc.property(value, value, (seconds, ms) => {
        const wait = asked({ 'retry-after': seconds, 'retry-after-ms': ms });
        if (wait === undefined) return;
        expect(Number.isInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(YEAR);
      }),
      { numRuns: 2000 },
    );
  });

  test('gives undefined for text that is neither a number nor an HTTP date', () => {
    const words = fc.stringMatching(/^[a-z]{1,8} ?[0-9]{0,4}[a-z ]{0,6}$/).filter((word) => !/^(mon|tue|wed|thu|fri|sat|sun)/.test(word));
    fc.assert(
      fc.property(words, (word) => void expect(asked({ 'retry-after': word })).toBeUndefined()),
      { numRuns: 1000 },
    );
  });
});

describe('lifetimes of records and keys', () => {
  const record = (more: Partial<OnceRecord>): OnceRecord => ({ createdAt: NOW, touchedAt: NOW, random: true, ...more }) as OnceRecord;
  const limits = { keyWindowMs: DAY, attemptMs: 30_000 };

  test('the key window is counted from the first attempt, and ends early by the time of one attempt', () => {
    const sent = record({ firstSentAt: NOW, windowEndsAt: NOW + DAY });
    expect(pastWindow(sent, limits, NOW + DAY - 30_001)).toBe(false);
    expect(pastWindow(sent, limits, NOW + DAY - 30_000)).toBe(true);
  });

  test.each([
    ['the stored one', { firstSentAt: NOW, windowEndsAt: NOW + 1000_000 }, NOW + 970_000],
    ['the one of the options', { firstSentAt: NOW, windowEndsAt: NOW + 2 * DAY }, NOW + DAY - 30_000],
    ['the one of the options, counted from the creation of the record if no first attempt is stored', {}, NOW + DAY - 30_000],
  ])('the earlier of two key windows counts: %s', (_, more, ends) => {
    expect(pastWindow(record(more), limits, ends - 1)).toBe(false);
    expect(pastWindow(record(more), limits, ends)).toBe(true);
  });

  test('the clock counts as set back only if it is more than five minutes behind the last write', () => {
    expect(isKeyTooOld(record({}), limits, NOW, NOW)).toBe(false);
    expect(isKeyTooOld(record({}), limits, NOW - 300_000, NOW - 300_000)).toBe(false);
    expect(isKeyTooOld(record({}), limits, NOW - 300_001, NOW - 300_001)).toBe(true);
  });

  test.each([
    ['inside its window', {}, NOW, NOW, false],
    ['past its window, by the time of the store', {}, NOW, NOW + DAY, true],
    ['past its window only by a fast clock of this machine', {}, NOW + DAY, NOW, false],
    ['with both clocks set back', {}, NOW - 300_001, NOW - 300_001, true],
    ['with one clock behind', {}, NOW, NOW - 300_001, false],
    ['past its window, with work that is still polled', { link: 'https://shop.example/jobs/1' }, NOW, NOW + DAY, false],
  ])('the key of a record %s', (_, more, now, storeNow, over) => expect(isKeyTooOld(record({ firstSentAt: NOW, ...more }), limits, now, storeNow)).toBe(over));

  test('an unsettled operation is kept for 30 days, and no shorter than a settled one', () => {
    expect(unsettledForgetAt(NOW, 0)).toBe(NOW + 30 * DAY);
    expect(unsettledForgetAt(NOW, 365 * DAY)).toBe(NOW + 365 * DAY);
    expect(unsettledForgetAt(NOW, Number.POSITIVE_INFINITY)).toBe(8.64e15);
  });

  test('an ended record is kept for the calls that wait for it: at least a minute, and at least as long as a call may take', () => {
    expect(settledForgetAt(NOW, 0, 1000)).toBe(NOW + 60_000);
    expect(settledForgetAt(NOW, 0, 120_000)).toBe(NOW + 120_000);
    expect(settledForgetAt(NOW, 30 * DAY, 120_000)).toBe(NOW + 30 * DAY);
    expect(retiredForgetAt(record({}), NOW, 1000)).toBe(NOW + 60_000);
    expect(retiredForgetAt(record({}), NOW, 120_000)).toBe(NOW + 120_000);
  });

  test('a retired record is kept for 30 days if its key is not random, because the same key could be made again', () => {
    expect(retiredForgetAt(record({ random: false }), NOW, 1000)).toBe(NOW + 30 * DAY);
  });
});
