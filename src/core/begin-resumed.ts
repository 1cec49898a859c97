/** Decides what a call that brings no payload, and only goes on with what is stored, does with the record that it finds. */
import { adopt, busy, isExpired, lifeOf } from './begin.js';
import type { Begun, Claimant } from './claimant.js';
import { readRecord } from './record.js';

/** As `begin`, but begins no operation. */
export function beginResumed(stored: unknown, call: Claimant, now: number, storeNow: number): Begun {
  if (stored === undefined) return { do: 'nothing' };
  const record = readRecord(stored);
  if (!record) return { do: 'corrupt' };
  const { found, waited } = call;
  if (record.state !== 'pending') {
    // If nothing of the listed operation was ever sent, its record may be gone. Then the record here is of an earlier or a later operation.
    const answers = found
      ? record.key === found.key && record.revision >= found.revision
      : record.state === 'settled' || (waited && waited.ended !== lifeOf(record));
    return { do: answers ? 'remembered' : 'nothing', record };
  }
  // The key goes where the record says, with the bytes that went out first. Nothing is sent yet: the request may be gone.
  const { raw, carrier, dialect, origin, endpoint = '' } = record;
  const asStored = { ...call, clean: true, raw, carrier, dialect, origin, endpoint };
  return (
    busy(record, call, storeNow) ?? (isExpired(record, call, now, storeNow) ? { do: 'key-expired', record } : adopt(record, true, asStored, now, storeNow))
  );
}
