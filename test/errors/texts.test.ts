/**
 * Goal: what a page in production says is short, and still says what is wrong, where, and which page explains it. Method: both
 * modules side by side. Their paths end in `.ts`, which no project leads elsewhere.
 */

import { describe, expect, test } from 'vitest';
import type { OnceErrorCode } from '../../src/core/codes.js';
import type { Outcome } from '../../src/core/outcome.js';
import * as full from '../../src/texts/full.ts';
import * as lean from '../../src/texts/lean.ts';
import { LEAN } from '../support/texts.js';

const outcome = (reason?: string): Outcome => ({ type: 'unknown', ...(reason && { reason }) }) as Outcome;

test('the project lean, and no other, runs with the short ones', () => {
  expect(LEAN).toBe(process.env['TEXTS'] === 'lean');
});

test.each(Object.keys(full.CODES) as OnceErrorCode[])('%s: its text at length; else code, reason and section', (code) => {
  expect(full.errorText(code, outcome('no-answer'))).toBe(full.CODES[code]);
  expect(lean.errorText(code, outcome('no-answer'))).toBe(`${code}, no-answer (docs/errors.md#${code.toLowerCase()})`);
  expect(lean.errorText(code, outcome())).toBe(`${code} (docs/errors.md#${code.toLowerCase()})`);
});

test.each(Object.keys(full.DIAGNOSTICS) as full.DiagnosticCode[])('%s: both say its code, its section and the place', (code) => {
  for (const { diagnosticText } of [full, lean]) {
    expect(diagnosticText(code, 'POST /pay')).toMatch(new RegExp(` \\(docs/diagnostics\\.md#${code}; POST /pay\\)$`));
    expect(diagnosticText(code)).toMatch(new RegExp(` \\(docs/diagnostics\\.md#${code}\\)$`));
  }
  expect(lean.diagnosticText(code).length).toBeLessThan(full.diagnosticText(code).length);
});

test.each(Object.keys(full.MISTAKES) as full.Mistake[])('%s: both say what is wrong, and what stood there', (mistake) => {
  expect(full.wrong('operation[1]', mistake, 'null')).toBe(`once: operation[1] ${full.MISTAKES[mistake]}, got null`);
  expect(full.wrong('operation[1]', mistake)).toBe(`once: operation[1] ${full.MISTAKES[mistake]}`);
  expect(lean.wrong('operation[1]', mistake, 'null')).toBe(`once: operation[1]: ${mistake}, got null (docs/errors.md#mistakes)`);
  expect(lean.wrong('operation[1]', mistake)).toBe(`once: operation[1]: ${mistake} (docs/errors.md#mistakes)`);
});

describe('what an option must be', () => {
  test.each([
    ['object', 'an object', 'object'],
    ['string|function', 'a string or a function', 'string|function'],
    [['join', 'reject'], '"join" or "reject"', 'join,reject'],
    [['memory', 'disk', false], '"memory" or "disk" or false', 'memory,disk,false'],
  ])('%j', (spec, long, short) => {
    expect(full.wanted(spec)).toBe(long);
    expect(lean.wanted(spec)).toBe(short);
  });
});
