/** Goal: docs/verdicts.md is what the code does. Method: it is generated again and compared; and what it promises is counted. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decisionRows } from './decisions.js';
import { page } from './page.js';

const file = join(import.meta.dirname, '../../docs/verdicts.md');
const text = page();

test('docs/verdicts.md is up to date (npm run tables)', () => {
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('every row of the decisions tells one decision', () => {
  expect(decisionRows().filter(([, , decision]) => decision.includes(' / '))).toEqual([]);
});

test('after something unsure nothing but a sticky refusal settles as none', () => {
  const wrong = decisionRows().filter(
    ([reading, when, decision]) => when.includes('after something unsure') && decision.includes('**none') && reading !== 'refused, sticky',
  );
  expect(wrong).toEqual([]);
});
