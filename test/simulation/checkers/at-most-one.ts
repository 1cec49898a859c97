/** Section 9, 1: at most one effect per operation, under any mix of faults. */
import type { Apart, Checker, Effect, KeyFacts, Ledger } from '../facts.js';
import { excuse, inMemoryOnly } from './excuse.js';

/** The same key was executed again: the server's doing, unless the client could know that it sent too late. */
const again = ({ key }: Effect, { honours }: Ledger): Apart | undefined => key.forgotten ?? (honours ? undefined : 'no-support');

export const atMostOne: Checker = {
  name: 'at-most-one',
  see(fact, ledger) {
    if (fact.kind !== 'effect') return;
    const { effect } = fact;
    const { op, epoch } = effect.key;
    if (op.unnamed) {
      // Each call is one intended effect, whichever key it went under; going on with what is pending intends none.
      const wanted = op.calls.filter(({ verb }) => verb !== 'resume').length;
      const had = [...op.keys.values()].reduce((sum, key) => sum + key.effects.length, 0);
      if (had >= wanted && ledger.honours) ledger.violate(this.name, op, `${had + 1} effects of ${wanted} calls`);
      if (effect.key.effects.length === 0) return;
    }
    const younger = (key: KeyFacts): Apart | undefined => (inMemoryOnly(key, ledger) || inMemoryOnly(effect.key, ledger) ? 'kept-in-memory-only' : undefined);
    const inOrder = [...op.keys.values()].filter((key) => key.epoch === epoch);
    for (const key of inOrder.filter(({ effects }) => effects.length > 0)) {
      const older = inOrder.indexOf(key) < inOrder.indexOf(effect.key) ? key : { ...effect.key, effects: [effect] };
      const why = key === effect.key ? again(effect, ledger) : (excuse(older, ledger) ?? younger(key) ?? asGuest(key, effect.key));
      if (why) ledger.apart(why, op);
      else ledger.violate(this.name, op, says(key === effect.key, key.key, effect, ledger));
    }
  },
};

/** Names live inside a namespace: there the guest's settled operation is another one. */
const asGuest = (earlier: KeyFacts, now: KeyFacts): Apart | undefined =>
  earlier.user !== earlier.op.user && earlier.end === 'settled' && now.user === now.op.user ? 'settled-as-guest' : undefined;

const says = (same: boolean, earlier: string, effect: Effect, ledger: Ledger): string =>
  `a second effect at ${ledger.now()}, ${same ? `under the same key ${earlier}, sent past its window` : `under ${effect.key.key} after one under ${earlier}`}`;
