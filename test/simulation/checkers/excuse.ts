/** Why a second effect, or one after "none", is not the client's doing: what the world did, or what the app asked for. */
import { COPY_LIFETIME_MS } from '../../../src/core/decide.js';
import type { Apart, Call, KeyFacts, Ledger, Send } from '../facts.js';

/** The store refused a record, and its context went on with a copy in memory, which the others do not see. */
export const inMemoryOnly = (key: KeyFacts, ledger: Ledger): boolean => key.wasInMemory && key.op.refused && !ledger.required;

/** What a guest did to its end is another operation than that of the user who logged in and makes this call. */
export const isGuests = ({ user, op, end }: KeyFacts, call: Call | undefined): boolean =>
  user !== op.user && end === 'settled' && (call === undefined || call.user === op.user);

/** Why the effect of `key` could be overlooked; `undefined`: it could not. */
export function excuse(key: KeyFacts, ledger: Ledger): Apart | undefined {
  if (key.lied) return 'the-app-lied';
  if (key.forgotten) return key.forgotten;
  // Each copy of one attempt is another request to a server without keys, and its refusal speaks of that one only, however often it comes.
  const again = ({ copies, heard, at }: Send): boolean => copies > 1 || (heard?.layer === 'unkept' && ledger.now() - at >= COPY_LIFETIME_MS);
  if (key.sends.some((send) => (send.keyless || !ledger.honours) && again(send))) return 'no-support';
  if (key.sweptByItsClock) return 'clock-lied';
  if (key.end === 'evicted' && key.random) return 'evicted-with-random-key';
  return inMemoryOnly(key, ledger) ? 'kept-in-memory-only' : undefined;
}
