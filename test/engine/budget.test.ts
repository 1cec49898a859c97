/** Goal: when most requests to an origin fail, retries stop adding to its load. The first retry of a payment and resumed operations are exempt. */
import { expect, test } from 'vitest';
import type { AnswerKind } from '../../src/core/dialect.js';
import { outOfBudget } from '../../src/engine/budget.js';
import type { OperationRun } from '../../src/engine/client.js';

interface How {
  readonly name?: readonly string[];
  readonly tries?: number;
  readonly resumed?: boolean;
  readonly origin?: string | undefined;
}

function scene(budget: number | false) {
  const budgets = new Map<string, number>();
  const count = (kind: AnswerKind, { name = [], tries = 2, resumed = false, origin = 'https://a.example' }: How = {}): boolean =>
    outOfBudget(
      { client: { registry: { budgets } }, settings: { retry: { budget } }, payload: { origin }, name } as unknown as OperationRun,
      kind,
      tries,
      resumed,
    );
  return { budgets, count };
}

test.each<[AnswerKind, boolean]>([
  ['transient', true],
  ['no-answer', true],
  ['fresh', false],
  ['refused', false],
  ['not-sent', false],
  ['in-progress', false],
])('%s takes from the budget: %s', (kind, takes) => {
  const { budgets, count } = scene(10);
  count('transient');
  count(kind);
  expect(budgets.get('https://a.example')).toBe(takes ? 8 : 9.1);
});

test('at half of the budget retries stop, and successes restore it bit by bit, up to its full size', () => {
  const { budgets, count } = scene(4);
  expect([count('transient'), count('transient'), count('transient')]).toEqual([false, true, true]);
  for (let answers = 0; answers < 19; answers++) expect(count('fresh')).toBe(false);
  expect(count('no-answer')).toBe(true);
  for (let answers = 0; answers < 100; answers++) count('fresh');
  expect(budgets.get('https://a.example')).toBe(4);
  for (let failures = 0; failures < 100; failures++) count('transient');
  expect(budgets.get('https://a.example')).toBe(0);
});

test('each origin has a budget of its own, and no more than a hundred are kept', () => {
  const { budgets, count } = scene(2);
  for (let origin = 0; origin < 101; origin++) expect(count('transient', { origin: `https://${origin}.example` })).toBe(true);
  expect(budgets.size).toBe(100);
  expect(budgets.has('https://0.example')).toBe(false);
  expect(scene(2).count('fresh', { origin: 'https://b.example' })).toBe(false);
});

test('functions given to run have a budget for each kind: failing mails do not stop the retries of charges', () => {
  const { budgets, count } = scene(4);
  const run = (kind: string) => count('no-answer', { origin: '', name: [kind, 'o-1'] });
  expect([run('mail'), run('mail'), run('mail')]).toEqual([false, true, true]);
  expect(run('charge')).toBe(false);
  expect([...budgets.keys()]).toEqual(['mail', 'charge']);
});

test.each<[string, How, boolean]>([
  ['the first retry of a named operation', { name: ['pay'], tries: 1 }, false],
  ['the second retry of a named operation', { name: ['pay'], tries: 2 }, true],
  ['the first retry of an unnamed operation', { tries: 1 }, true],
  ['a retry of a resumed operation', { tries: 5, resumed: true }, false],
])('an empty budget stops %s: %j %s', (_, how, stops) => {
  const { count } = scene(2);
  count('transient');
  expect(count('transient', how)).toBe(stops);
});

test('without a budget no retry is stopped', () => {
  const { budgets, count } = scene(false);
  for (let failures = 0; failures < 10; failures++) expect(count('transient')).toBe(false);
  expect(budgets.size).toBe(0);
});
