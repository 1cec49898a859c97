/** Decides what a call does with the record that it finds, if it brings no payload and only goes on with what is stored. */
import { adopt, busy, isExpired, lifeOf } from './begin.js';
import type { Begun, Claimant } from './claimant.js';
import { readRecord } from './record.js';

/** As `begin`, but begins no operation. */
export function beginResumed(stored: unknown, call: Claimant, now: number, storeNow: number): Begun {
  if (stored === undefined) return { do: 'nothing' };
  const record = readRecord(stored);
  if (!record) return { do: 'corrupt' };
  const { found, lookBefore } = call;
  if (record.state !== 'pending') {
    // If nothing of the listed operation was ever sent, its record may be gone. Then the record here is of an earlier or a later operation.
    const answers = found
      ? record.key === found.key && record.revision >= found.revision
      : record.state === 'settled' || (lookBefore && lookBefore.ended !== lifeOf(record));
    return { do: answers ? 'remembered' : 'nothing', record };
  }
  const held = busy(record, call, storeNow);
  if (held) return held;
  if (call.keyKind === 'literal' && call.key !== record.key) return { do: 'mismatch', record };
  if (isExpired(record, call, now, storeNow)) return { do: 'key-expired', record };
  // The key goes where the record says, with the bytes that went out first.
  const { raw, carrier, dialect, origin, endpoint = '' } = record;
  // A client with another dialect sends nothing, so its key window is not stored.
  const keyWindowMs = call.dialect === dialect ? call.keyWindowMs : Infinity;
  const begun = adopt(record, true, { ...call, raw, carrier, dialect, origin, endpoint, keyWindowMs }, now, storeNow);
  const { lease } = begun.record;
  return { ...begun, record: { ...begun.record, lease: lease && { ...lease, resumes: true } } };
}
