/** Why a second effect, or an effect after "none", is not the client's fault: the world caused it, or the app asked for it. */
import { COPY_LIFETIME_MS } from '../../../src/core/decide.js';
import type { Apart, Call, KeyFacts, Ledger, Send } from '../facts.js';
import { wasUnknown } from './left-open.js';

/** The store refused the record, and its context went on with a copy in its memory, which other contexts cannot see. */
export const inMemoryOnly = (key: KeyFacts, ledger: Ledger): boolean => key.memoryOnly && key.op.refused && !ledger.required;

/** Whether the key belongs to an operation that settled for the guest, while the call is one of the user who logged in, who has another operation. */
export const isGuests = ({ user, op, end }: KeyFacts, call: Call | undefined): boolean =>
  user !== op.user && end === 'settled' && (call === undefined || call.user === op.user);

/**
 * Why the client could overlook the effect of `key`. `undefined`: there is no excuse. `younger`: the key with which a page went on. Without it, the
 * checker has to know who could know the key.
 */
export function excuse(key: KeyFacts, ledger: Ledger, younger?: KeyFacts): Apart | undefined {
  if (key.lied) return 'the-app-lied';
  if (key.forgotten) return key.forgotten;
  // To a server without keys, each copy of an attempt is a request of its own. A refusal speaks of one copy only, even if it is repeated.
  const again = ({ copies, heard, at }: Send): boolean => copies > 1 || (heard?.layer === 'unkept' && ledger.now() - at >= COPY_LIFETIME_MS);
  if (key.sends.some((send) => (send.keyless || !ledger.honours) && again(send))) return 'no-support';
  if (key.sweptByItsClock) return 'clock-lied';
  if (key.random && (younger ? wasUnknown(key, younger) : key.end === 'evicted')) return 'evicted-with-random-key';
  return inMemoryOnly(key, ledger) ? 'kept-in-memory-only' : innerExcuse(key, ledger);
}

/** What a function of `run` did by calls under names of their own is excused like those calls. */
export function innerExcuse({ inner }: KeyFacts, ledger: Ledger): Apart | undefined {
  for (const key of inner) {
    const why = excuse(key, ledger);
    if (why) return why;
  }
  return undefined;
}
