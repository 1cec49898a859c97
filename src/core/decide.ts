/** From a reading to the next step. */
import { atLeast, type Backoff, backoffMs } from './backoff.js';
import type { Reading } from './dialect.js';
import { type Ending, fresh, rejected, replayed, type UnknownReason, type Unsettled, unknown, unsent } from './outcome.js';

/** What counts when a step is decided. */
export interface Situation {
  readonly now: number;
  /** Wall clock, ms: no attempt and no wait goes beyond. */
  readonly deadline: number;
  /** An earlier attempt under this key may have had its effect, or the key is not random and may have been used before. */
  readonly ambiguous: boolean;
  /** Another payload may have gone out under this key. */
  readonly changed: boolean;
  /** An earlier attempt of the present payload was ambiguous. */
  readonly sameAmbiguous: boolean;
  readonly answersMismatch: boolean;
  /** The server knows keys, so that sending again is safe. */
  readonly keyed: boolean;
  /** The last attempt had an HTTP answer. */
  readonly answered: boolean;
  /** Attempts so far that count against `triesMax`: all but those that found work in progress. */
  readonly tries: number;
  readonly triesMax: number;
  /** Answers in a row that said "in progress". */
  readonly waits: number;
  /** Wall clock, ms: when waiting for work in progress ends. */
  readonly waitsEnd: number;
  readonly retryAfterMs: number | undefined;
  readonly backoff: Backoff;
  /** In [0, 1). */
  readonly random: number;
}

export type Wait = { readonly do: 'wait'; readonly ms: number; readonly why: 'backoff' | 'in-progress' | 'retry-after' };

/** Nothing is settled. `ask`: only `reconcile` can say more. */
export type Stop = { readonly do: 'stop'; readonly ending: Unsettled; readonly ask: boolean; readonly spent?: boolean };

export type Decision =
  | Wait
  /** The operation has its outcome. `reconcile`: ask which payload it was. */
  | { readonly do: 'settle'; readonly ending: Ending; readonly sticky?: boolean | undefined; readonly earlier?: boolean; readonly ask?: boolean }
  | Stop
  | { readonly do: 'done-elsewhere'; readonly resource: string | undefined }
  | { readonly do: 'probe' }
  | { readonly do: 'poll' };

const stop = (reason: UnknownReason, ask: boolean, retryAt?: number): Decision => ({ do: 'stop', ending: unknown(reason, retryAt), ask });
const settle = (ending: Ending, sticky?: boolean): Decision => ({ do: 'settle', ending, sticky });

/** A 2xx, marked as a replay or not: whose is it when more than one payload went out under the key? */
function done(marked: boolean, s: Situation): Decision {
  if (!s.changed || s.answersMismatch) return settle(marked && !s.changed ? replayed('server') : fresh(marked || !s.ambiguous, s.changed));
  if (marked && !s.sameAmbiguous) return { do: 'settle', ending: replayed('server'), earlier: true };
  return { do: 'settle', ending: fresh(false, true), ask: true };
}

/** Waits while the limits allow it, else ends the call without settling more than is certain. */
function again(reading: Reading, s: Situation): Decision {
  const ms = s.retryAfterMs === undefined ? backoffMs(s.backoff, s.tries, s.random) : atLeast(s.backoff, s.tries, s.retryAfterMs);
  if (!s.keyed && (s.ambiguous || reading.ambiguous)) return stop(s.answered ? 'unavailable' : 'no-answer', true);
  if (s.tries < s.triesMax && s.now + ms < s.deadline) return { do: 'wait', ms, why: s.retryAfterMs === undefined ? 'backoff' : 'retry-after' };
  if (s.ambiguous || reading.ambiguous) return stop(s.answered ? 'unavailable' : 'no-answer', false, s.retryAfterMs && s.now + s.retryAfterMs);
  return s.answered ? settle(rejected()) : { do: 'stop', ending: unsent('unreachable'), ask: false };
}

function inProgress(s: Situation): Decision {
  const ms = atLeast(s.backoff, s.waits, s.retryAfterMs ?? backoffMs(s.backoff, s.waits, s.random));
  if (s.keyed && s.now + ms < Math.min(s.waitsEnd, s.deadline)) return { do: 'wait', ms, why: 'in-progress' };
  return { do: 'stop', ending: unknown('in-progress', s.retryAfterMs && s.now + s.retryAfterMs), ask: true, spent: true };
}

function refused(reading: Reading, s: Situation): Decision {
  if (reading.sticky || !(s.ambiguous || reading.ambiguous)) return settle(rejected(reading.replayed === true), reading.sticky);
  return stop('refused-after-ambiguity', true);
}

/** The next step after an attempt. Pure: the same reading in the same situation is always the same step. */
export function decide(reading: Reading, s: Situation): Decision {
  switch (reading.kind) {
    case 'fresh':
    case 'replayed':
      return done(reading.kind === 'replayed', s);
    case 'not-sent':
    case 'no-answer':
    case 'transient':
      return again(reading, s);
    case 'in-progress':
      return inProgress(s);
    case 'refused':
      return refused(reading, s);
    case 'mismatch':
      // The key is new, so this is its first payload: the caller made a mistake, and nothing happened.
      return s.ambiguous ? { do: 'probe' } : settle(rejected());
    case 'done-elsewhere':
      return { do: 'done-elsewhere', resource: reading.resource };
    case 'accepted':
      return { do: 'poll' };
    case 'burnt':
      return stop('burnt', true);
    case 'open':
      return stop('refused-after-ambiguity', true);
    case 'not-a-verdict':
      return stop('not-a-verdict', false);
  }
}
