/** Promise 7: when everything has come to rest, a page shows what is stored. */
import type { Checker, Shown } from '../facts.js';

const NAME = 'screens-are-true';

/** Why the screen is wrong about this record; `undefined` if it is right. */
function wrong({ state, stored }: Shown): string | undefined {
  const { phase } = state;
  // The answer came after a log-out. The record stayed as the log-out left it, and the answer was true.
  if (phase === 'settled' && state.outcome.effect === 'done' && state.outcome.key === stored?.key) return undefined;
  if (stored?.state === 'pending') return phase === 'unsettled' && state.pending.key === stored.key ? undefined : 'it is pending';
  if (stored?.state === 'settled') return 'it is done';
  return phase === 'idle' || phase === 'settled' ? undefined : 'nothing is open';
}

export const screensAreTrue: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind !== 'shown') return;
    const { op, context, state } = fact;
    const why = wrong(fact);
    if (why) ledger.violate(NAME, op, `${context} shows ${JSON.stringify(state)}, and ${why}`);
  },
};
