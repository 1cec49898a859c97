/**
 * Goal: the texts of a page in production are short, and still say what is wrong, where, and which page explains it. Method: both modules side by side. The
 * paths of their imports end in `.ts`, so that no project replaces them.
 */
import { describe, expect, test } from 'vitest';
import type { OnceErrorCode } from '../../src/core/codes.js';
import type { Outcome } from '../../src/core/outcome.js';
import { OnceError } from '../../src/errors.js';
import { explained } from '../../src/texts/explained.ts';
import * as full from '../../src/texts/full.ts';
import * as lean from '../../src/texts/lean.ts';
import { LEAN } from '../support/texts.js';

const FACTS = { operation: ['pay', 1], key: 'k', attempts: 2, firstSentAt: 0, sent: 'maybe', resumed: false, joined: false, storedIn: 'disk' } as const;
const UNKNOWN: Outcome = { ...FACTS, type: 'unknown', effect: 'unknown', reason: 'no-answer', retryAt: undefined };
const DONE: Outcome = { ...FACTS, type: 'fresh', effect: 'done', certain: true, changed: false };
const STEPS = [
  'The first attempt under this key left at 1970-01-01T00:00:00.000Z.',
  'This call made 2 attempts under this key.',
  'An attempt may have reached the server, but no answer says so.',
].join(' ');
/** For these codes, the outcome says more than the code does, so they have no text. */
const GENERAL: readonly string[] = ['ERR_ONCE_UNKNOWN', 'ERR_ONCE_UNSENT'];

test('only the project lean runs with the short texts', () => expect(LEAN).toBe(process.env['TEXTS'] === 'lean'));

describe.each([...Object.keys(full.CODES), ...GENERAL] as OnceErrorCode[])('%s', (code) => {
  test('says what is wrong and how that came about', () => {
    const why = `t may have taken effect: no attempt was answered within the limits and the retry budget. ${STEPS}`;
    expect(full.errorText(code, UNKNOWN)).toBe(
      GENERAL.includes(code)
        ? `i${why} Call again with the same name: it goes on with the same key. With dialect 'none', ask your server and settle it. See docs/outcomes.md#why-nobody-knows.`
        : `${full.CODES[code]}. I${why} See docs/outcomes.md#why-nobody-knows.`,
    );
  });

  test('is replaced by a text that says more', () => {
    expect(full.errorText(code, DONE, 'it is done, but late')).toBe(
      `it is done, but late. It took effect now. ${STEPS} See docs/outcomes.md#what-the-words-rest-on.`,
    );
    expect(lean.errorText(code, DONE, 'it is done, but late')).toBe('it is done, but late.');
  });

  test('is short in production: code, reason and section', () => {
    expect(lean.errorText(code, UNKNOWN)).toBe(`${code}, no-answer (docs/errors.md#${code.toLowerCase()}).`);
    expect(lean.errorText(code, DONE)).toBe(`${code} (docs/errors.md#${code.toLowerCase()}).`);
  });
});

test('a POST without a name is told every way to name it, and what leaves it to fetch, before unnamed()', () => {
  const text = full.needs('a POST without a name', 'unnamed');
  const ways = ["once: ['pay', cart.id]", 'createOnce({ operation })', 'once: false', 'unnamed()'].map((way) => text.indexOf(way));
  expect(ways).not.toContain(-1);
  expect(ways).toEqual([...ways].sort((a, b) => a - b));
});

test('a dialect that was not called is told to be called, before hooks()', () => {
  const text = full.needs('dialect', 'hooks');
  expect(text.indexOf('stripe()')).toBeGreaterThan(0);
  expect(text.indexOf('stripe()')).toBeLessThan(text.indexOf('hooks()'));
});

test('after a refusal that may become a proof, the advice is to call again at that time', () => {
  const refused: Outcome = { ...UNKNOWN, reason: 'refused-after-ambiguity', retryAt: 0 };
  expect(explained(refused).next).toMatch(/^After a 401, log in\. Then call again, or .* Wait until 1970-01-01T00:00:00.000Z before that\.$/);
});

test('no text about a missing feature has the words by which axios recognises a broken network: it would hide the text', () => {
  for (const { needs } of [full, lean]) for (const feature of ['unnamed', 'hooks']) expect(needs('x', feature)).not.toMatch(/load failed|fetch/i);
});

test('an error that has a cause points to it, and repeats nothing of it', () => {
  const { message } = new OnceError('ERR_ONCE_UNKNOWN', UNKNOWN, { cause: new Error('secret') });
  if (!LEAN) expect(message).toContain(' See its cause for what failed last, and docs/outcomes.md#why-nobody-knows.');
  expect(message).not.toContain('secret');
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1e300])(
  'a time that is no date, as in a damaged record, does not make building the text fail: %s',
  (at) => {
    const outcome: Outcome = { ...UNKNOWN, firstSentAt: at, retryAt: at };
    expect(full.errorText('ERR_ONCE_UNKNOWN', outcome)).toContain(`${at} ms`);
  },
);

test.each(Object.keys(full.DIAGNOSTICS) as full.DiagnosticCode[])('%s: the long and the short text have its code, its section and the place', (code) => {
  for (const { diagnosticText } of [full, lean]) {
    expect(diagnosticText(code, 'POST /pay')).toMatch(new RegExp(` \\(docs/diagnostics\\.md#${code}; POST /pay\\)$`));
    expect(diagnosticText(code)).toMatch(new RegExp(` \\(docs/diagnostics\\.md#${code}\\)$`));
  }
  expect(lean.diagnosticText(code).length).toBeLessThan(full.diagnosticText(code).length);
});

test.each(Object.keys(full.MISTAKES) as full.Mistake[])('%s: the long and the short text say what is wrong, and what was given', (mistake) => {
  expect(full.wrong('operation[1]', mistake, 'null')).toBe(`once: operation[1] ${full.MISTAKES[mistake]}, got null`);
  expect(full.wrong('operation[1]', mistake)).toBe(`once: operation[1] ${full.MISTAKES[mistake]}`);
  expect(lean.wrong('operation[1]', mistake, 'null')).toBe(`once: operation[1]: ${mistake}, got null (docs/errors.md#mistakes)`);
  expect(lean.wrong('operation[1]', mistake)).toBe(`once: operation[1]: ${mistake} (docs/errors.md#mistakes)`);
});

test.each([
  ['object', 'an object', 'object'],
  ['string|function', 'a string or a function', 'string|function'],
  [['join', 'reject'], '"join" or "reject"', 'join,reject'],
  [['memory', 'disk', false], '"memory" or "disk" or false', 'memory,disk,false'],
])('what an option must be: %j', (spec, long, short) => {
  expect(full.wanted(spec)).toBe(long);
  expect(lean.wanted(spec)).toBe(short);
});
