/** Section 9, 3: one key per operation from begin to settle, whoever drives it. */
import type { Checker, Commit, KeyFacts, Ledger } from '../facts.js';
import { inMemoryOnly } from './excuse.js';

const NAME = 'one-key';

/** A key gives way to another one only when its record was settled, or is known never to have left. */
function rotated({ op, before, after, why }: Commit, ledger: Ledger): void {
  if (!before || !after || before.key === after.key || why !== 'written') return;
  const key = op.keys.get(before.key);
  const backAgain = after.state !== 'pending';
  if (before.state === 'pending' && !backAgain && (before.ambiguous || !before.random))
    ledger.violate(NAME, op, `the pending ${before.key} was replaced by ${after.key}`);
  else if (before.state === 'pending' && key?.sends.length)
    ledger.violate(NAME, op, `${before.key} had been sent when it was replaced by ${after.key} as if it were clean`);
  else if (before.state === 'settled' && op.repeat === 'never')
    ledger.violate(NAME, op, `the settled ${before.key} was replaced by ${after.key}, and its name is never repeated`);
}

export const oneKey: Checker = {
  name: NAME,
  see(fact, ledger) {
    if (fact.kind === 'commit') rotated(fact, ledger);
    if (fact.kind !== 'sent') return;
    const { send } = fact;
    const { key } = send;
    if (key.key === '') return ledger.violate(NAME, key.op, 'an attempt without a key');
    // Its own window, by its own clock: past it the key is as good as another one, unless no server has seen it yet.
    if (send.wall >= key.windowEndsAt && !(key.random && key.sends.every((one) => one === send)))
      ledger.violate(NAME, key.op, `${key.key} was sent past its window, ${send.wall - key.windowEndsAt} ms too late`);
    // It reads its record again before every attempt after the first, and before it asks a hook; what ended in between is a matter of milliseconds.
    const ended = key.end !== undefined && key.end !== 'evicted' && !(key.end === 'settled' && ledger.replays) && send.attempt > 1;
    const { askedAt, answeredAt } = send.hook;
    const lookedAt = ledger.now() - answeredAt > LATE_MS_MAX ? ledger.now() : askedAt;
    if (ended && lookedAt - Math.max(key.endedAt, send.thawedAt) > LATE_MS_MAX && !overlooked(key, ledger))
      ledger.violate(NAME, key.op, `${key.key} was sent ${ledger.now() - key.endedAt} ms after it had ended: ${key.end}`);
    if (!send.call || send.call.dead || (send.call.told && send.call.told.at < ledger.now()))
      ledger.violate(NAME, key.op, `${key.key} was sent and nobody waits for it`);
    if (send.account !== key.user) ledger.violate(NAME, key.op, `${key.key} of ${key.user} was sent with the cookie of ${send.account}`);
  },
};

/** It ended in the store, and this context's record is in its memory, still open. */
function overlooked(key: KeyFacts, ledger: Ledger): boolean {
  if (!inMemoryOnly(key, ledger)) return false;
  ledger.apart('kept-in-memory-only', key.op);
  return true;
}

/** From the last look at the record to the wire, or to the hook. */
const LATE_MS_MAX = 50;
