/** Which payloads have gone out under a key, and which of them took effect. */
import type { Begun } from './claimant.js';
import type { Settle } from './decide.js';
import type { Ending } from './outcome.js';
import type { OnceRecord } from './record.js';

type Driven = Extract<Begun, { do: 'drive' }>;

/**
 * Whether this call's payload is known to be the one that took effect. This call must not get the answer to another payload. A record that
 * lists none does not know.
 */
export const isOwn = ({ resumeOnly, fingerprint }: { readonly resumeOnly: boolean; readonly fingerprint: string }, { payloads }: OnceRecord): boolean =>
  resumeOnly || (payloads.length === 1 && payloads[0] === fingerprint);

/** Payloads that were sent under this key and refused, before an operation began anew under the same key. */
const refusedPayloads = ({ key, refusedBefore, previous }: OnceRecord): readonly string[] =>
  (refusedBefore && previous?.key === key && previous.payloads) || [];

/** Whether other payloads have gone out under this key, in the same operation or refused before it began. */
export const hasOthers = ({ changed, record }: Pick<Driven, 'changed' | 'record'>): boolean =>
  changed || refusedPayloads(record).some((one) => one !== record.payloads.at(-1));

/** The payload that took effect; all that may have, if nothing tells which one did. */
export function payloadsOf(
  { payloads }: OnceRecord,
  ending: Ending,
  { earlier, marked }: Pick<Settle, 'earlier' | 'marked'>,
  start: Pick<Driven, 'refusedOnly' | 'record'>,
): readonly string[] {
  if (ending.effect !== 'done') return payloads;
  const all = earlier || (ending.type === 'fresh' && ending.changed) ? [...new Set([...refusedPayloads(start.record), ...payloads])] : payloads;
  if (earlier) return all.filter((one) => one !== payloads.at(-1));
  // Only the server's own answer tells which payload took effect. If all earlier ones were refused, it is the last one, unless the answer is a replay.
  const sure = (start.refusedOnly && !marked) || (ending.type === 'fresh' ? ending.certain : ending.from === 'server');
  return sure ? payloads.slice(-1) : all;
}
