/** Situations in which a decision is made: every one that can differ in what may be settled. */
import type { Situation } from '../../../src/core/decide.js';
import { CALM } from '../../support/situation.js';

const both = [false, true];

/** All of them. */
export const SITUATIONS: readonly Situation[] = both.flatMap((ambiguous) =>
  both.flatMap((changed) =>
    both.flatMap((sameAmbiguous) =>
      both.flatMap((answersMismatch) =>
        both.flatMap((keyed) =>
          both.map((spent) => ({ ...CALM, ambiguous, changed, sameAmbiguous, answersMismatch, keyed, ...(spent && { tries: 5, waitsEnd: 0 }) })),
        ),
      ),
    ),
  ),
);
