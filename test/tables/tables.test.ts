/** Goal: docs/verdicts.md says what the code does. Method: the page is generated again and compared, and each of its promises is checked against all rows. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { samples } from '../dialects/support/all.js';
import { cells, EVIDENCE, readEvidence } from './answers.js';
import { decisionRows } from './decisions.js';
import { page } from './page.js';

const file = join(import.meta.dirname, '../../docs/verdicts.md');
const DECISION = '../../docs/decisions/0019-only-the-application-uses-up-a-key.md';
const text = page();

test('docs/verdicts.md is up to date (npm run tables)', () => expect(readFileSync(file, 'utf8')).toBe(text));

test('every row of the table of decisions has one decision', () => expect(decisionRows().filter(([, , decision]) => decision.includes(' / '))).toEqual([]));

const settlesAsNone = (decision: string): boolean => decision.includes('**none');
const isUnsure = (when: string): boolean => when.includes('something unsure') && !/(^|, )only refusals/.test(when);

test('after something unsure, only a kept refusal, or the same refusal by the application two minutes later, settles as none', () => {
  const wrong = decisionRows().filter(
    ([reading, when, decision]) =>
      isUnsure(when) &&
      settlesAsNone(decision) &&
      !/^refused, (sticky|replayed)$/.test(reading) &&
      !(reading === 'refused by the application' && when.includes('the same refusal as two minutes ago')),
  );
  expect(wrong).toEqual([]);
});

test('a refusal perhaps from in front of the application never gives up the key, and leaves the outcome unknown if copies may go unseen', () => {
  const rows = decisionRows().filter(([reading]) => reading === 'refused, perhaps in front');
  expect(rows.length).toBeGreaterThan(0);
  for (const [, when, decision] of rows) {
    expect(decision).not.toContain('new key');
    if (settlesAsNone(decision)) expect(decision).toContain('key in use');
    if (when.includes('copies may go unseen')) expect(decision).toContain('unknown');
  }
});

test('only the readings done elsewhere, fresh and replayed settle as done', () => {
  const done = new Set(decisionRows().flatMap(([reading, , decision]) => (decision.includes('**done') ? [reading] : [])));
  expect([...done].sort()).toEqual(['done elsewhere', 'fresh', 'replayed']);
});

test.each(['generic', 'stripe', 'paypal', 'gocardless', 'ietf', 'telnyx', 'adyen'])('%s: no answer but a 2xx or a marked 3xx is read as done', (name) => {
  const dialect = samples[name]?.dialect;
  if (!dialect) throw new Error(`there is no dialect ${name}`);
  for (const evidence of EVIDENCE)
    for (const ambiguous of [false, true]) {
      const { kind } = readEvidence(evidence, dialect, ambiguous);
      if (kind === 'fresh' || kind === 'replayed')
        expect([evidence.shows, evidence.status]).toEqual([evidence.shows, expect.toSatisfy((status: number) => status >= 200 && status < 304)]);
    }
});

test('no prose settles: whatever the words of a 4xx are, it is read like one without words, or as a question', () => {
  const PROSE = [
    'is a duplicate request',
    'was already paid',
    'Idempotency-Key reused with a different payload',
    'this Idempotency-Key is in use',
    'declined',
    'done',
  ];
  for (let status = 400; status < 500; status++)
    for (const ambiguous of [false, true])
      for (const message of PROSE) {
        const plain = readEvidence({ shows: '', status, body: {} }, GENERIC, ambiguous);
        const spoken = readEvidence({ shows: '', status, body: { message } }, GENERIC, ambiguous);
        const questions = ['in-progress', 'mismatch', 'open', plain.kind];
        expect(questions).toContain(spoken.kind);
        if (spoken.kind === 'refused') expect(['in-front', plain.from]).toContain(spoken.from);
      }
});

const every = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);
const clean = (status: number) => readEvidence({ shows: '', status }, GENERIC, false);

test('no status from 500 on settles as none except 501 and 505, with or without a replay marker or a retry hint', () => {
  const HEADERS = [{}, { 'idempotent-replayed': 'true' }, { 'should-retry': 'true' }, { 'should-retry': 'false' }, { 'retry-after': '1' }];
  const none = every(500, 999).filter((status) => HEADERS.some((headers) => cells({ shows: '', status, headers }, GENERIC).join().includes('**none')));
  expect(none).toEqual([501, 505]);
});

test('the statuses that may come from in front of the application are those that decision 19 lists', () => {
  const said = /\*\*The word\.\*\* ([\d, to]+) and a page in HTML/.exec(readFileSync(join(import.meta.dirname, DECISION), 'utf8'))?.[1] ?? '';
  const listed = said.split(', ').flatMap((part) => {
    const [from, to] = part.split(' to ').map(Number) as [number, number?];
    return every(from, to ?? from);
  });
  const refused = every(400, 599).filter((status) => clean(status).kind === 'refused' && !clean(status).ambiguous);
  expect(refused.filter((status) => clean(status).from === 'in-front')).toEqual(listed.filter((status) => refused.includes(status)));
});
