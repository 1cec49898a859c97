/** The retry budget of an origin, or of one kind of functions given to `run`: when most attempts there fail, retries stop, so that they add no load. */
import type { AnswerKind } from '../core/dialect.js';
import type { OperationRun } from './client.js';
import { keepRecent } from './registry.js';

/** What a success gives back; a failure costs 1. As in gRFC A6 ("retry throttling"), retries stop while at most half of the budget is left. */
const REFUND = 0.1;
const ORIGINS_MAX = 100;

/** Counts an attempt for its origin. `true` if the attempt failed and must not be retried, because the origin's budget is used up. */
export function outOfBudget({ client, settings, payload, name }: OperationRun, kind: AnswerKind, tries: number, resumed: boolean): boolean {
  const { budget } = settings.retry;
  if (budget === false) return false;
  const { budgets } = client.registry;
  const failed = /^(transient|no-answer)$/.test(kind);
  // A function given to `run` has no known origin. Its budget is shared by operations whose names begin with the same part.
  const origin = payload?.origin || String(name[0]);
  const balance = Math.min(budget, Math.max(0, (budgets.get(origin) ?? budget) + (failed ? -1 : REFUND)));
  keepRecent(budgets, origin, balance, ORIGINS_MAX);
  // The first retry of a named operation, and resumed operations, are never held back.
  return balance <= budget / 2 && failed && !resumed && !(name.length && tries < 2);
}
