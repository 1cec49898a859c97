/** Situations in which a decision is made: every one that can differ in what may be settled. */
import type { Situation } from '../../../src/core/decide.js';

const BASE: Situation = {
  now: 0,
  deadline: 120_000,
  ambiguous: false,
  changed: false,
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

const both = [false, true];

/** All of them. */
export const SITUATIONS: readonly Situation[] = both.flatMap((ambiguous) =>
  both.flatMap((changed) =>
    both.flatMap((sameAmbiguous) =>
      both.flatMap((answersMismatch) =>
        both.flatMap((keyed) =>
          both.map((spent) => ({ ...BASE, ambiguous, changed, sameAmbiguous, answersMismatch, keyed, ...(spent && { tries: 5, waitsEnd: 0 }) })),
        ),
      ),
    ),
  ),
);

export const AFTER = SITUATIONS;
export const base = BASE;
