/** Goal: docs/errors.md says what the short texts of production builds leave out. Method: compares the page with the long texts. */
import { expect, test } from 'vitest';
import { CODES, MISTAKES, REASONS } from '../../src/texts/full.js';
import { anchorsOf, readPage, tableUnder } from './support/markdown.js';
import { unionOf } from './support/public-types.js';

const page = readPage('docs/errors.md');
const sections = Object.fromEntries(page.text.split(/^## /m).map((section) => [section.split('\n')[0], section]));
const plain = (text: string): string => text.replaceAll('`', '').toLowerCase();

// Of two codes the outcome itself says more than a text could.
const WITHOUT_TEXT: readonly string[] = ['ERR_ONCE_UNKNOWN', 'ERR_ONCE_UNSENT'];

test.each([...unionOf('OnceErrorCode')])('%s has a section with its text', (code) => {
  const text = CODES[code as keyof typeof CODES];
  expect(text === undefined).toBe(WITHOUT_TEXT.includes(code));
  expect(plain(sections[code] ?? '')).toContain(plain(text ?? code));
  expect(anchorsOf(page)).toContain(code.toLowerCase());
});

test.each(Object.entries(REASONS))('the page has the text of the reason %s', (_, text) => expect(plain(page.text)).toContain(plain(text ?? '')));

test('there is no section for a code that does not exist', () => {
  expect(Object.keys(sections).filter((name) => name.startsWith('ERR_') && ![...unionOf('OnceErrorCode')].includes(name))).toEqual([]);
});

test('every mistake has a row with its text, and every row has a mistake', () => {
  const rows = tableUnder(page, '## Mistakes').map(([name = '', text = '']) => [plain(name), text.replaceAll('`', '')]);
  expect(rows).toEqual(Object.entries(MISTAKES).map(([name, text]) => [name, text]));
});

test('every code has a row that says what to do', () => {
  const rows = tableUnder(page, '## Codes');
  expect(rows.map(([code = '']) => code.replaceAll('`', '')).sort()).toEqual([...unionOf('OnceErrorCode')].sort());
  expect(rows.filter(([, , advice = '']) => advice === '')).toEqual([]);
});

test('the page names the one limit that production does not check', () => {
  expect(page.text).toContain('limits (of `leaseMs` only that it is a number)');
});
