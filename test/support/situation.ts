import type { Situation } from '../../src/core/decide.js';

/** A first attempt that was answered at time zero, with all limits still ahead. Tests override what differs. */
export const CALM: Situation = {
  now: 0,
  deadline: 120_000,
  ambiguous: false,
  changed: false,
  reused: false,
  refusedOnly: false,
  madeAgain: false,
  mayResend: false,
  repeat: 'never',
  refusedForMs: undefined,
  sameAmbiguous: false,
  answersMismatch: false,
  keyed: true,
  answered: true,
  tries: 1,
  triesMax: 5,
  waits: 1,
  waitsEnd: 60_000,
  retryAfterMs: undefined,
  backoff: { minDelayMs: 500, maxDelayMs: 15_000, factor: 2 },
  random: 0.5,
};
