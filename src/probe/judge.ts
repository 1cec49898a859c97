/** Judges what happened to copies of one request, by their answers and the number of effects. */
import { isRefusal, isSuccess, kindOf } from './answers.js';
import type { Bench } from './bench.js';
import type { ProbeFinding } from './findings.js';
import type { Came } from './request.js';

export interface Copies {
  readonly key: string;
  /** The first answer, if it arrived. */
  readonly first?: Came | undefined;
  /** The last answer. */
  readonly last: Came | undefined;
  /** `undefined` if effects are not counted. */
  readonly effects: number | undefined;
}

export const isMarked = ({ dialect }: Bench, came: Came, key: string): boolean => {
  const kind = kindOf(came, dialect, key, true);
  return (
    kind === 'replayed' || kind === 'burnt' || (came.status >= 400 && kindOf(came, { ...dialect, replayed: () => false }, key) !== kindOf(came, dialect, key))
  );
};

export function judge(bench: Bench, { key, first, last, effects }: Copies): ProbeFinding {
  if (effects !== undefined && effects > 1) return 'doubles';
  if (!last) return 'no-answer';
  if (isSuccess(last) && !(last.status === 202 && !bench.learnt.accepts)) return ofSuccess(bench, { key, first, last, effects });
  const none = effects === 0;
  if (last.status >= 500) return none && !isMarked(bench, last, key) ? 'never-done' : 'stored-fault';
  // A 429 does not count: a rate limit does not say that any work is under way.
  if (last.status !== 429 && bench.saysLater(last, key)) return none ? 'stuck' : 'busy-for-ever';
  return none ? 'never-done' : 'no-replay';
}

function ofSuccess(bench: Bench, { key, first, last, effects }: Copies & { last: Came }): ProbeFinding {
  if (effects === 0) return 'false-success';
  if (isMarked(bench, last, key)) return 'replays-marked';
  // An answer that calls the first request a copy of itself can't be compared.
  if (!first || bench.saysBusy(first, key)) return 'replays';
  if (first.status >= 500) return 'fault-with-effect';
  if (first.text === last.text) return first.status === last.status ? 'replays' : 'other-status';
  if (effects === undefined) return 'may-double';
  return first.status === last.status ? 'answers-anew' : 'other-status';
}

/** Judges copies that were under way at the same time. `answers`: in the order in which they came. */
export function judgeTogether(bench: Bench, answers: readonly (Came | undefined)[], copies: Copies & { last: Came }): ProbeFinding {
  const { last } = copies;
  const whole = judge(bench, copies);
  if (whole === 'doubles' || !isSuccess(last)) return whole;
  const came = answers.filter((one) => one !== undefined);
  const successes = came.filter(isSuccess);
  const own = successes.findIndex(({ text }) => text === last.text);
  if (copies.effects === undefined && new Set(successes.filter((one) => !isMarked(bench, one, copies.key)).map(({ text }) => text)).size > 1)
    return 'may-double';
  if (last.status !== 202 && successes.some(({ status }) => status === 202)) return 'accepts-while-busy';
  if (own > 0) return 'early-success';
  if (came.some(({ status }) => status >= 500)) return 'faults-while-busy';
  if (came.some((one) => one.status === 409 && isRefusal(one) && one.headers.get('retry-after') === null)) return 'no-retry-after';
  return whole;
}
