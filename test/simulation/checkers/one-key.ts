/** Promise 3: one key per operation from begin to settle, whoever drives it. */
import { type Checker, type Commit, type Ledger, type Send, wasSent } from '../facts.js';
import { afterLogOut, afterWaiting, besideDamaged, besideLeftOpen, besideLost, endedByAnother, LATE_MS_MAX, NAME, wentOn } from './claims.js';
import { withoutConsent } from './consent.js';

/** A key may be replaced only if its record has settled, or if it is known that the key was never sent. */
function rotated({ op, before, after, why, expired }: Commit, ledger: Ledger): void {
  if (!before || !after || before.key === after.key || why !== 'written' || expired !== 'no') return;
  const key = op.keys.get(before.key);
  const backAgain = after.state !== 'pending';
  if (before.state === 'pending' && !backAgain && (before.ambiguous || !before.random))
    ledger.violate(NAME, op, `the pending ${before.key} was replaced by ${after.key}`);
  else if (before.state === 'pending' && key && wasSent(key))
    ledger.violate(NAME, op, `${before.key} had been sent when it was replaced by ${after.key} as if it were clean`);
  else if (before.state === 'settled' && op.repeat === 'never')
    ledger.violate(NAME, op, `the settled ${before.key} was replaced by ${after.key}, and its name is never repeated`);
}

function sent(send: Send, ledger: Ledger) {
  const { key, part } = send;
  // oncefetch has no say in the later requests of a function of `run` that has begun.
  if (part && part !== key.op.parts[0]) return undefined;
  if (key.key === '') return ledger.violate(NAME, key.op, 'an attempt without a key');
  // By the clock that counts, the key window is over: the key is now as good as a new one, which is harmless only if no server has seen it before.
  if (send.wall >= key.windowEndsAt && !(key.random && key.sends.every((one) => one === send)))
    ledger.violate(NAME, key.op, `${key.key} was sent past its window, ${send.wall - key.windowEndsAt} ms too late`);
  const ended = key.end !== undefined && !(key.end === 'settled' && (ledger.replays || send.replays));
  if (ended && wentOn(send, key.endedAt, ledger.now()))
    ledger.violate(NAME, key.op, `${key.key} was sent ${ledger.now() - key.endedAt} ms after it had ended: ${key.end}`);
  if (!send.call || send.call.dead || (send.call.told && send.call.told.at < ledger.now()))
    ledger.violate(NAME, key.op, `${key.key} was sent, although nobody waits for it`);
  if (send.account !== key.user && ledger.now() > (key.storedFor.get(send.account) ?? 0) + LATE_MS_MAX)
    ledger.violate(NAME, key.op, `${key.key} of ${key.user} was sent with the cookie of ${send.account}`);
  afterLogOut(send, ledger);
  afterWaiting(send, ledger);
  besideDamaged(send, ledger);
  besideLost(send, ledger);
  besideLeftOpen(send, ledger);
  withoutConsent(send, ledger, NAME);
}

export const oneKey: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind === 'commit') {
      rotated(fact, ledger);
      endedByAnother(fact, ledger);
    } else if (fact.kind === 'sent') sent(fact.send, ledger);
  },
};
