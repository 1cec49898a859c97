/** Promise 5: an operation that may have had an effect and was not reported is in `pending()`. */
import { type Checker, does, type KeyFacts, type Ledger, wasSent } from '../facts.js';
import { excuse } from './excuse.js';

const NAME = 'nothing-lost';

function gone(key: KeyFacts, ledger: Ledger) {
  const { op } = key;
  const why = key.end === 'evicted' ? 'evicted-from-pending' : excuse(key, ledger);
  if (why) return ledger.apart(why, op);
  ledger.violate(NAME, op, `${key.key} was sent and never reported, and it is in no list of pending operations${key.end ? `: ${key.end}` : ''}`);
}

export const nothingLost: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind !== 'commit' || fact.why !== 'written') return;
    const { op, before, after, memory, byHand } = fact;
    if (ledger.exact && before?.state === 'settled' && !after && !memory && fact.expired === 'no' && !does(byHand, 'clear', 'clear-forget'))
      return ledger.violate(NAME, op, `what was left of the settled ${before.key} was removed ${before.forgetAt - fact.storeNow} ms before its time`);
    const key = before && op.keys.get(before.key);
    // The record of an operation that may have taken effect was removed or forgotten, and neither the server nor the app had said how it ended.
    if (!key || !wasSent(key) || memory || before?.state !== 'pending') return;
    if (key.epoch < op.epoch && does(byHand, 'clear-forget', 'forget')) return;
    if (fact.expired === 'yes') return ledger.apart('left-for-a-month', op);
    const dropped = !after || after.key !== key.key || (after.state === 'retired' && after.ending?.type === 'unknown' && !after.sticky);
    if (dropped) ledger.violate(NAME, op, `the record of ${key.key}, which was sent, was ${after ? 'forgotten' : 'removed'}`);
  },
  atRest(ledger) {
    for (const op of ledger.ops.values()) {
      if (op.damaged) {
        ledger.apart('record-torn', op);
        continue;
      }
      for (const key of op.keys.values()) {
        if (key.epoch !== op.epoch || !wasSent(key) || key.listed || key.told) continue;
        // `move` has left it to the guest, because the user has another operation of that name, and has said so (`move-conflict`).
        if (key.user !== op.user && key.pendingInStore) continue;
        // The stored record of such a key tells the next call of the name how the operation ended.
        if (key.end === 'settled' || key.end === 'rejected') continue;
        if (key.damaged) ledger.apart('record-torn', op);
        else gone(key, ledger);
      }
    }
  },
};
