/** Goal: no dialect has a rule for an answer that nobody documented. Method: for each rule there must be a fixture that it reads. */
import { describe, expect, test } from 'vitest';
import type { Dialect } from '../../src/core/dialect.js';
import { matches } from '../../src/dialects/matching.js';
import type { AnswerRule, DefinedDialect } from '../../src/entries/dialects.js';
import { samples } from './support/all.js';
import { answerOf, fixturesOf } from './support/fixtures.js';

const rulesOf = (dialect: Dialect): readonly AnswerRule[] => ('definition' in dialect ? ((dialect as DefinedDialect).definition.answers ?? []) : []);
const ruled = Object.entries(samples).filter(([, { dialect }]) => rulesOf(dialect).length > 0);
const textOf = (rule: AnswerRule): string => JSON.stringify(rule, (_, value) => (value instanceof RegExp ? String(value) : value));

describe.each(ruled)('%s', (_, { dialect, fixtures }) => {
  const answers = rulesOf(dialect);
  const documented = fixturesOf(fixtures).map(answerOf);
  const reads = (answer: (typeof documented)[number], ambiguous: boolean) => answers.find((rule) => matches(rule, answer, ambiguous));

  test.each(answers.map((rule) => [textOf(rule), rule] as const))('%s', (_text, rule) => {
    expect(documented.some((answer) => [false, true].some((ambiguous) => reads(answer, ambiguous) === rule))).toBe(true);
  });
});

test('most dialects have rules', () => expect(ruled.length).toBeGreaterThan(15));
