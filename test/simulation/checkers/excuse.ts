/** Why a second effect, or one after "none", is not the client's doing: exactly the cases that section 9 counts apart. */
import type { Apart, KeyFacts, Ledger, Send } from '../facts.js';

/** Refused by somebody who remembers nothing for the key: after that a client may take its attempt for clean. */
const isClean = ({ heard }: Send): boolean =>
  heard !== undefined && heard.status >= 400 && heard.status < 500 && (heard.layer === 'front' || heard.layer === 'unkept');

/**
 * One call of the transport put several copies on the server. One of them had the effect; the client got the refusal of
 * another, by somebody who does not remember it for the key. To the client that is a clean refusal, as long as every attempt
 * under the key ended with one: after any other it has to keep the key, and nothing is excused.
 */
function silentCopy(key: KeyFacts): Apart | undefined {
  if (!key.sends.every(isClean)) return undefined;
  for (const send of key.sends) {
    if (send.copies < 2 || !key.effects.some((effect) => effect.send === send)) continue;
    if (send.heard?.layer === 'front') return 'front-refusal-to-silent-copy';
    if (send.heard?.layer === 'unkept') return 'unkept-refusal-to-silent-copy';
  }
  return undefined;
}

/** The store refused a record, and its context went on with a copy in memory, which the others do not see. */
export const inMemoryOnly = (key: KeyFacts, ledger: Ledger): boolean => key.wasInMemory && key.op.refused && !ledger.required;

/** Why the effect of `key` could be overlooked; `undefined`: it could not. */
export function excuse(key: KeyFacts, ledger: Ledger): Apart | undefined {
  if (key.forgotten) return key.forgotten;
  if (key.end === 'evicted' && key.random) return 'evicted-with-random-key';
  if (inMemoryOnly(key, ledger)) return 'kept-in-memory-only';
  // Its ending was `rejected`, or the record was used up by one: no other refusal is ever taken for clean.
  return key.random ? silentCopy(key) : undefined;
}
