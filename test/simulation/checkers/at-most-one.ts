/** Section 9, 1: at most one effect per operation, under any mix of faults. */
import type { Apart, Checker, Effect, KeyFacts, Ledger } from '../facts.js';
import { excuse, inMemoryOnly } from './excuse.js';

/** The same key was executed again: the server's doing, unless the client knew that it sent too late. */
function again(effect: Effect): Apart | undefined {
  const { afresh, send, key } = effect;
  if (afresh === 'no-support') return 'no-support';
  if (afresh === 'forgotten-early') return 'key-forgotten-early';
  if (afresh === 'first') return undefined;
  if (send.wall >= key.windowEndsAt) return undefined;
  // Inside the window by the device's clock. By the true one, either the copy was slow or the clock was wrong.
  return send.lateByTrueTime ? 'clock-lied' : 'copy-outlived-window';
}

export const atMostOne: Checker = {
  name: 'at-most-one',
  see(fact, ledger) {
    if (fact.kind !== 'effect') return;
    const { effect } = fact;
    const { op, epoch } = effect.key;
    const younger = (key: KeyFacts): Apart | undefined => (inMemoryOnly(key, ledger) || inMemoryOnly(effect.key, ledger) ? 'kept-in-memory-only' : undefined);
    const inOrder = [...op.keys.values()].filter((key) => key.epoch === epoch);
    for (const key of inOrder.filter(({ effects }) => effects.length > 0)) {
      const older = inOrder.indexOf(key) < inOrder.indexOf(effect.key) ? key : { ...effect.key, effects: [effect] };
      const why = key === effect.key ? again(effect) : (excuse(older, ledger) ?? younger(key));
      if (why) ledger.apart(why, op);
      else if (ledger.honours) ledger.violate(this.name, op, says(key === effect.key, key.key, effect, ledger));
    }
  },
};

const says = (same: boolean, earlier: string, effect: Effect, ledger: Ledger): string =>
  `a second effect at ${ledger.now()}, ${same ? `under the same key ${earlier}, sent past its window` : `under ${effect.key.key} after one under ${earlier}`}`;
