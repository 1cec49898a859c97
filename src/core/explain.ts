/** Says in sentences how an outcome came about, and what to do next. */
import { type Explanation, explained, GUIDES } from '../texts/explained.js';
import { typeOf } from './name.js';
import type { Outcome } from './outcome.js';

export type { Explanation };

/**
 * Explains an outcome: what is known, which facts led to it, and what to do now.
 *
 * @throws TypeError if it is given no outcome
 * @example
 * const outcome = outcomeOf(error);
 * if (outcome) console.info(explain(outcome).summary);
 */
export function explain(outcome: Outcome): Explanation {
  const type = (outcome as { readonly type?: unknown } | undefined)?.type;
  if (typeof type !== 'string' || !Object.hasOwn(GUIDES, type)) throw new TypeError(`once: explain takes an outcome, got ${typeOf(outcome)}`);
  return explained(outcome);
}
