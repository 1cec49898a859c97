/** The situations of a decision: every one that can differ in what may be settled. */
import type { Situation } from '../../../src/core/decide.js';
import { CALM } from '../../support/situation.js';

const both = [false, true];

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
