/** Decides the next step after an attempt from its reading. */

import { atLeast, type Backoff, backoffMs } from './backoff.js';
import type { UnknownReason } from './codes.js';
import type { Reading } from './dialect.js';
import { type Ending, fresh, rejected, replayed, type Unsettled, unknown, unsent } from './outcome.js';

/** What is known of an operation when its next step is decided. */
export interface Situation {
  readonly now: number;
  /** Wall clock, ms: no attempt and no wait goes on beyond this. */
  readonly deadline: number;
  /** An earlier attempt under this key may have had its effect, or the key is not random and may have been used before. */
  readonly ambiguous: boolean;
  /** Another payload may have gone out under this key. */
  readonly changed: boolean;
  /** Every attempt before this drive was refused, and every caller was told so. */
  readonly reused?: boolean | undefined;
  /** As `reused`, but a copy that the platform sent unseen may have had an effect. */
  readonly refusedOnly?: boolean | undefined;
  /** The key is derived, and an operation whose record is lost may have used it. */
  readonly madeAgain: boolean | undefined;
  /** With `if-changed` the payload is a state that is to be brought about, such as a cart's content. */
  readonly repeat: 'never' | 'if-changed' | 'always';
  /** The platform may send a request again unseen. */
  readonly mayResend?: boolean | undefined;
  /** For how long the application has been giving this very refusal under this key, ms: 0 if it is new, `undefined` if nothing tells. */
  readonly refusedForMs: number | undefined;
  /** An earlier attempt of the present payload was ambiguous. */
  readonly sameAmbiguous?: boolean | undefined;
  readonly answersMismatch: boolean | undefined;
  /** The server knows keys, so that sending again is safe. */
  readonly keyed: boolean;
  /** The last attempt had an HTTP answer. */
  readonly answered: boolean;
  /** Attempts so far that count against `triesMax`: all but those that found work in progress. */
  readonly tries: number;
  readonly triesMax: number;
  /** Answers to this drive that said "in progress", the present one included. */
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
export type Stop = { readonly do: 'stop'; readonly ending: Unsettled; readonly ask: boolean };

/** The operation has its outcome. */
export interface Settle {
  readonly do: 'settle';
  readonly ending: Ending;
  /** The server keeps this refusal, and repeats it for the key. */
  readonly sticky?: boolean | undefined;
  /** Nothing proves that the application used the key up, so the next call sends it again. */
  readonly keyInUse?: boolean | undefined;
  /** An earlier payload of this key took effect, not the present one. */
  readonly earlier?: boolean | undefined;
  /** The fingerprints of the payloads that took effect, where the record cannot tell. */
  readonly payloads?: readonly string[] | undefined;
  /** Ask `reconcile` which payload took effect. */
  readonly ask?: boolean | undefined;
  /** The answer has the replay marker, and nothing tells which payload it is about. */
  readonly marked?: boolean | undefined;
}

export type Decision =
  | Wait
  | Settle
  | Stop
  | { readonly do: 'done-elsewhere'; readonly resource: string | undefined }
  /** The server keeps its refusal of an earlier call for this key: the present call goes on under a new one. */
  | { readonly do: 'anew' }
  /** The server knows another payload under this key: find out how that one ended. */
  | { readonly do: 'probe' }
  /** The server has accepted the work: poll the link of its 202. */
  | { readonly do: 'poll' };

export const stop = (reason: UnknownReason, ask: boolean, retryAt?: number): Stop => ({ do: 'stop', ending: unknown(reason, retryAt), ask });
const settle = (ending: Ending, how: Omit<Settle, 'do' | 'ending'> = {}): Settle => ({ do: 'settle', ending, ...how });

/**
 * Whether an answer that tells of an earlier request is about an earlier payload. It is if the present payload can have had no effect yet:
 * no attempt with it was ambiguous, and the platform sends no copy unseen. With `if-changed` a copy does not matter: to set a state twice
 * does no harm, but to lose it does.
 */
export const isOfEarlier = (s: Pick<Situation, 'sameAmbiguous' | 'mayResend' | 'repeat'>): boolean =>
  !s.sameAmbiguous && (!s.mayResend || s.repeat === 'if-changed');

/** A 2xx, marked as a replay or not. If more than one payload went out under the key, decides whose answer it is. */
function done(marked: boolean, s: Situation): Decision {
  // Every earlier payload of this key was refused, so this is the answer to the present one.
  if (!marked && s.reused && !s.ambiguous) return settle(fresh(true, s.changed));
  if (!s.changed || s.answersMismatch) return settle(marked && !s.changed ? replayed('server') : fresh(marked || !s.ambiguous, s.changed));
  // If the platform may resend, this is only a guess. Then the record lists no payload, so that the next call is sent whatever its payload is.
  if (marked && isOfEarlier(s)) return settle(replayed('server'), { earlier: true, payloads: s.mayResend ? [] : undefined });
  return settle(fresh(false, true), { ask: true, marked });
}

/** Waits for another attempt while the limits allow it; otherwise ends the call, and claims nothing that is not certain. */
function retryOrStop(reading: Reading, s: Situation): Decision {
  const ms = s.retryAfterMs === undefined ? backoffMs(s.backoff, s.tries, s.random) : atLeast(s.tries, s.retryAfterMs);
  if (!s.keyed && (s.ambiguous || reading.ambiguous)) return stop(s.answered ? 'unavailable' : 'no-answer', true);
  // The platform may have sent two copies. This refusal may be the second one's, while the first one had its effect.
  if (!s.keyed && s.answered && s.mayResend) return stop('refused', true);
  if (s.tries < s.triesMax && s.now + ms < s.deadline) return { do: 'wait', ms, why: s.retryAfterMs === undefined ? 'backoff' : 'retry-after' };
  if (s.ambiguous || reading.ambiguous) return stop(s.answered ? 'unavailable' : 'no-answer', false, s.retryAfterMs && s.now + s.retryAfterMs);
  return s.answered ? cleanlyRefused('in-front', s) : { do: 'stop', ending: unsent('unreachable'), ask: false };
}

function inProgress(s: Situation): Decision {
  const ms = atLeast(s.waits, s.retryAfterMs ?? backoffMs(s.backoff, s.waits, s.random));
  if (s.keyed && s.now + ms < Math.min(s.waitsEnd, s.deadline)) return { do: 'wait', ms, why: 'in-progress' };
  return stop('in-progress', true, s.retryAfterMs && s.now + s.retryAfterMs);
}

/**
 * How long a copy of a request may still be under way, ms: the maximum segment lifetime of TCP (RFC 9293, section 3.4.2).
 */
export const COPY_LIFETIME_MS = 120_000;

/** Refused, with nothing ambiguous before. If the platform may have sent a copy unseen, only a refusal by the application counts. */
export function cleanlyRefused(from: Reading['from'], s: Pick<Situation, 'mayResend' | 'refusedOnly'>): Settle | Stop {
  if (from === 'in-front' && (s.mayResend || s.refusedOnly)) return stop('refused', true);
  return settle(rejected(), { keyInUse: from !== 'application' });
}

function refused(reading: Reading, s: Situation): Decision {
  const { sticky, from } = reading;
  const refusedEarlier = s.reused || s.refusedOnly || (s.madeAgain && reading.replayed);
  // The server keeps this refusal. If it is new, it is the answer to this call; if it is a repetition, it is the answer to an earlier one.
  if (sticky) return refusedEarlier && (reading.replayed || s.refusedForMs) ? { do: 'anew' } : settle(rejected(reading.replayed), { sticky });
  if ((s.ambiguous && !s.refusedOnly) || reading.ambiguous) return refusedAfterAmbiguity(reading, s);
  // The same refusal a second time: the server keeps it, but does not mark replays.
  if (s.reused && s.refusedForMs && from !== 'in-front') return { do: 'anew' };
  // A copy of an earlier payload may have taken effect unseen. Then this may be the server's refusal of another payload under the key.
  return cleanlyRefused(s.refusedOnly && s.changed ? (from ?? 'in-front') : from, s);
}

/**
 * Refused, but an earlier attempt, or even this one, may have had its effect. If the application gives the very same refusal again when
 * no copy of an earlier attempt can be under way any more, that attempt had none.
 */
function refusedAfterAmbiguity(reading: Reading, s: Situation): Decision {
  const proof = refusedAgain(reading, s.now, s.refusedForMs);
  // Not `sticky`, because nothing shows that the server keeps the refusal. So a derived key stays, and a loss of the storage leads back to it.
  return proof === 'proven' ? settle(rejected()) : stop(s.ambiguous ? 'refused-after-ambiguity' : 'unavailable', true, proof);
}

/** Whether a refusal proves that no earlier attempt took effect. If not, from when on it would, if it came again (wall clock, ms). */
export function refusedAgain({ kind, sticky, from, ambiguous }: Reading, now: number, refusedForMs: number | undefined): 'proven' | number | undefined {
  if (kind !== 'refused' || (!sticky && (from !== 'application' || ambiguous || refusedForMs === undefined))) return undefined;
  const wait = COPY_LIFETIME_MS - (refusedForMs as number);
  return !sticky && wait > 0 ? now + wait : 'proven';
}

/** The next step after an attempt. Pure: the same reading in the same situation always gives the same step. */
export function decide(reading: Reading, s: Situation): Decision {
  switch (reading.kind) {
    case 'fresh':
    case 'replayed':
      return done(reading.kind === 'replayed', s);
    case 'not-sent':
    case 'no-answer':
    case 'transient':
      return retryOrStop(reading, s);
    case 'in-progress':
      return inProgress(s);
    case 'refused':
      return refused(reading, s);
    case 'mismatch':
      // Every earlier payload was refused, but the server still knows one of them: it keeps that refusal.
      if (s.reused && !s.ambiguous) return { do: 'anew' };
      // If the key is new, the server has seen one payload only, so this answer is a plain refusal, unless the platform sent a copy unseen.
      return s.ambiguous || s.changed || s.mayResend ? { do: 'probe' } : settle(rejected(), { keyInUse: true });
    case 'done-elsewhere':
      // Where the name may stand for another effect, the present payload must still be sent.
      if (s.repeat !== 'never' && s.changed && isOfEarlier(s)) return settle(replayed('elsewhere'), { earlier: true });
      return { do: 'done-elsewhere', resource: reading.resource };
    case 'accepted':
      return { do: 'poll' };
    case 'burnt':
      return stop('burnt', true);
    case 'open':
      return stop(s.ambiguous ? 'refused-after-ambiguity' : 'refused', true);
    case 'not-a-verdict':
      return stop('not-a-verdict', false);
  }
}
