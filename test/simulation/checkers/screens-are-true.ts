/** 7: when everything has come to rest, a page shows what is stored. */
import type { Checker, Shown } from '../facts.js';

const NAME = 'screens-are-true';

/** What a screen must not show of this record; `undefined`: it is right. */
function wrong({ op, state, stored }: Shown): string | undefined {
  const { phase } = state;
  // The end came after a log-out, which leaves a record as it was, and the answer was true.
  if (phase === 'settled' && state.outcome.effect === 'done' && state.outcome.key === stored?.key) return undefined;
  // Of several effects under one name, the last one came to nothing.
  if (phase === 'settled' && state.outcome.effect === 'none' && stored?.state === 'settled' && op.repeat !== 'never') return undefined;
  if (stored?.state === 'pending') return phase === 'unsettled' && state.pending.key === stored.key ? undefined : 'it is pending';
  if (stored?.state === 'settled') return 'it is done';
  return phase === 'idle' || phase === 'settled' ? undefined : 'nothing is open';
}

export const screensAreTrue: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind !== 'shown') return;
    const { op, context, state } = fact;
    if (op.damaged || op.refused) return;
    const why = wrong(fact);
    if (why) ledger.violate(NAME, op, `${context} shows ${JSON.stringify(state)}, and ${why}`);
  },
};
