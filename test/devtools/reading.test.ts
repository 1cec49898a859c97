/**
 * Goal: the panel names a reading as docs/verdicts.md does, says why, and links to a heading that exists. Method: reads
 * all the evidence of that page, and the link of every dialect.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Reading } from '../../src/core/dialect.js';
import { labelOf, pageOf, whyOf } from '../../src/devtools/reading.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { samples } from '../dialects/support/all.js';
import { cells, EVIDENCE, readEvidence } from '../tables/answers.js';

const page = readFileSync(new URL('../../docs/verdicts.md', import.meta.url), 'utf8');
const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
  text
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-'),
);

test.each([false, true])('each reading has the words of docs/verdicts.md (after an ambiguous attempt: %s)', (ambiguous) => {
  const told = EVIDENCE.map((evidence) => {
    const reading = readEvidence(evidence, GENERIC, ambiguous);
    return [labelOf(reading), cells(evidence, GENERIC)[ambiguous ? 2 : 0]];
  });
  expect(told.length).toBeGreaterThan(50);
  for (const [mine, theirs] of told) expect(mine, 'docs/verdicts.md is older than the rules: npm run tables').toBe(theirs);
});

test('each reading says why, in one sentence', () => {
  const readings: Reading[] = [false, true].flatMap((ambiguous) => EVIDENCE.map((evidence) => readEvidence(evidence, GENERIC, ambiguous)));
  for (const reading of readings) expect(whyOf(reading)).toMatch(/^[A-Z].*\.$/);
  expect(new Set(readings.map(whyOf)).size).toBeGreaterThan(10);
});

test('the link of each dialect leads to a heading of docs/verdicts.md', () => {
  const names = Object.values(samples).map(({ dialect }) => dialect.name);
  const dead = ['generic', 'none', 'mine', ...names].map(pageOf).filter((to) => !headings.includes(to.split('#')[1] ?? ''));
  expect(dead, 'SECTIONS of src/devtools/reading.ts has them, docs/verdicts.md has no such heading').toEqual([]);
  const own = headings.slice(headings.indexOf('by-dialect') + 1);
  const unled = own.filter((heading) => !names.some((name) => pageOf(name).endsWith(`#${heading}`)));
  expect(unled, 'docs/verdicts.md has a section for them, SECTIONS of src/devtools/reading.ts does not name them').toEqual([]);
});
