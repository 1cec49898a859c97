/**
 * Goal: waits make sense in comparison with each other, not only one by one. Method: two situations that differ in one thing, and what
 * follows for the wait; Retry-After in each of its forms.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atLeast, backoffMs, FLOOR_MS_MAX } from '../../src/core/backoff.js';
import { decide } from '../../src/core/decide.js';
import type { Reading } from '../../src/core/dialect.js';
import { retryAfterMs } from '../../src/core/retry-after.js';
import { IN_PROGRESS, TRANSIENT } from '../../src/core/verdict.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { text } from '../support/arbitraries.js';
import { CALM } from '../support/situation.js';

const YEAR_MS = 31_536_000_000;
const NOW = Date.UTC(2026, 10, 20, 12);
const asked = (headers: HeadersInit, now = NOW) => {
  const all = new Headers(headers);
  return retryAfterMs((name) => all.get(name), now);
};
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('backoff', () => {
  const any = fc.record({
    minDelayMs: fc.oneof(fc.constantFrom(0, 1, 500, Number.MAX_VALUE, Number.POSITIVE_INFINITY), fc.double({ min: 0, max: 1e9, noNaN: true })),
    maxDelayMs: fc.oneof(fc.constantFrom(0, 1, 15_000), fc.double({ min: 0, max: 1e9, noNaN: true })),
    factor: fc.oneof(fc.constantFrom(1, 2, Number.MAX_VALUE, Number.POSITIVE_INFINITY), fc.double({ min: 1, max: 1e6, noNaN: true })),
  });

  test('is a whole number within its bounds, even with extreme options', () => {
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 1e9 }), random, (backoff, failed, luck) => {
        const ms = backoffMs(backoff, failed, luck);
        expect(Number.isInteger(ms), String(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(Math.ceil(backoff.maxDelayMs));
      }),
      { numRuns: 2000 },
    );
  });

  test('never gets shorter with more failures, nor with a higher random number', () => {
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 200 }), fc.nat(200), random, random, (backoff, failed, more, a, b) => {
        expect(backoffMs(backoff, failed + more, a)).toBeGreaterThanOrEqual(backoffMs(backoff, failed, a));
        expect(backoffMs(backoff, failed, Math.max(a, b))).toBeGreaterThanOrEqual(backoffMs(backoff, failed, Math.min(a, b)));
      }),
    );
  });

  test('is spread over its whole range', () => {
    const delays = { minDelayMs: 1000, maxDelayMs: 60_000, factor: 2 };
    const drawn = Array.from({ length: 1000 }, (_, index) => backoffMs(delays, 4, index / 1000));
    expect(Math.min(...drawn)).toBe(0);
    expect(Math.max(...drawn)).toBe(7992);
    expect(new Set(drawn).size).toBe(1000);
  });
});

describe('a server that never gives a final answer', () => {
  const soon = fc.option(fc.integer({ min: 1, max: 3000 }), { nil: undefined });
  const budget = fc.integer({ min: 0, max: 600_000 });

  test('gets at most one request a second in the long run, whatever its Retry-After and the options are', () => {
    const pace = fc.record({ minDelayMs: fc.constantFrom(0, 1, 500), maxDelayMs: fc.constantFrom(0, 1, 15_000), factor: fc.constantFrom(1, 2) });
    fc.assert(
      fc.property(
        fc.constantFrom<[Reading, boolean]>([IN_PROGRESS, false], [TRANSIENT, true]),
        pace,
        fc.array(soon, { minLength: 1 }),
        budget,
        random,
        (kind, backoff, asks, ms, luck) => {
          const [reading, bySeconds] = kind;
          let [now, requests] = [0, 1];
          for (; ; requests++) {
            // Without a Retry-After, `limits.attempts` limits the retries of a transient answer.
            const retryAfterMs = asks[requests % asks.length] ?? (bySeconds ? 1 : undefined);
            const situation = {
              ...CALM,
              now,
              deadline: ms,
              waitsEnd: ms,
              tries: requests,
              waits: requests,
              triesMax: Number.POSITIVE_INFINITY,
              retryAfterMs,
              backoff,
              random: luck,
            };
            const decision = decide(reading, situation);
            if (decision.do !== 'wait') break;
            now += decision.ms;
          }
          expect(requests).toBeLessThanOrEqual(7 + ms / 1000);
        },
      ),
    );
  });

  test('gets no request before the wait that it asked for is over', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.nat(100_000), (waits, ms) => {
        const waited = atLeast(waits, ms);
        expect(waited).toBeGreaterThanOrEqual(ms);
        expect(atLeast(waits + 1, ms)).toBeGreaterThanOrEqual(waited);
        expect(waited).toBeLessThanOrEqual(Math.max(ms, FLOOR_MS_MAX));
      }),
    );
  });
});

describe('Retry-After', () => {
  test('means the same in seconds, in milliseconds and in each of the three date formats', () => {
    const two = (value: number): string => String(value).padStart(2, '0');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 * 86_400 }), (seconds) => {
        const date = new Date(NOW + seconds * 1000);
        const [day, , month] = date.toUTCString().split(' ');
        const [date_, year, time] = [two(date.getUTCDate()), date.getUTCFullYear(), date.toISOString().slice(11, 19)];
        const long = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'][date.getUTCDay()];
        const forms = [
          { 'retry-after': String(seconds) },
          { 'retry-after-ms': String(seconds * 1000) },
          { 'retry-after': date.toUTCString() },
          { 'retry-after': `${long}, ${date_}-${month}-${two(year % 100)} ${time} GMT` },
          { 'retry-after': `${day?.slice(0, 3)} ${month} ${date_.replace(/^0/, ' ')} ${time} ${year}` },
        ];
        expect(forms.map((form) => asked(form))).toEqual(forms.map(() => seconds * 1000));
      }),
    );
  });

  test('with a higher value never gives a shorter wait', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.double({ min: 0, max: 1e12, noNaN: true }), (a, b) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((value) => asked({ 'retry-after': value.toFixed(3) }) ?? 0);
        expect(less).toBeLessThanOrEqual(more!);
      }),
    );
  });

  test('with a date gives a shorter wait as the clock goes on, and none once the date has passed', () => {
    const date = new Date(NOW + 3_600_000).toUTCString();
    for (const [later, ms] of [
      [0, 3_600_000],
      [1, 3_599_999],
      [3_599_999, 1],
      [3_600_000, undefined],
      [3_600_001, undefined],
      [YEAR_MS, undefined],
    ] as const)
      expect(asked({ 'retry-after': date }, NOW + later)).toBe(ms);
  });

  test('with any text gives no wait, or a whole number of ms up to a year; two values in one answer give none', () => {
    const value = fc.oneof(text(0, 30), fc.stringMatching(/^[\d.,:+\- a-zGMT]{0,30}$/), fc.double().map(String), fc.bigInt().map(String));
    fc.assert(
      fc.property(value, value, (a, b) => {
        for (const wait of [
          retryAfterMs((name) => (name === 'retry-after' ? a : null), NOW),
          retryAfterMs((name) => (name === 'retry-after-ms' ? b : a), NOW),
        ]) {
          if (wait === undefined) continue;
          expect(Number.isInteger(wait) && wait > 0 && wait <= YEAR_MS, String(wait)).toBe(true);
        }
        expect(retryAfterMs((name) => (name === 'retry-after' ? '5, 10' : null), NOW)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });
});

describe('replay markers', () => {
  const MARKERS = ['Idempotent-Replayed', 'X-Idempotency-Cache-Hit', 'idempotency-status', 'x-idempotency-status', 'request-idempotency', 'Idempotency-Replay'];
  const header = (headers: Headers) => ({ header: (name: string) => headers.get(name) }) as Parameters<typeof GENERIC.replayed>[0];
  const value = fc.oneof(
    fc.constantFrom('true', '?1', '1', 'yes', 'false', '0', 'no', '', 'replayed', 'completed', 'pending', 'true, true', 'untrue', 'trues', 'null'),
    fc.stringMatching(/^[\x21-\x7e]{0,12}$/),
  );

  test('count only with a value that means true, in upper or lower case, with or without space around it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MARKERS), value, fc.constantFrom('', ' ', '\t'), fc.boolean(), (name, said, space, upper) => {
        const status = /status$/i.test(name);
        const truth = status ? /^(replayed|completed)$/i : /^\??(true|1|yes)$/i;
        const headers = new Headers({ [upper ? name.toUpperCase() : name]: `${space}${upper ? said.toUpperCase() : said}${space}` });
        expect(GENERIC.replayed(header(headers))).toBe(truth.test(said));
      }),
      { numRuns: 1000 },
    );
  });

  test('are never found in other headers, whatever these say', () => {
    const other = fc.stringMatching(/^[a-z][a-z-]{0,15}$/).filter((name) => !/idempoten/.test(name));
    fc.assert(
      fc.property(fc.dictionary(other, value, { maxKeys: 8 }), (all) => {
        expect(GENERIC.replayed(header(new Headers(all)))).toBe(false);
      }),
    );
  });
});
