/** Claims one operation for a change that the app asks for (`settle`, `forget`), and refuses a change that would contradict the record. */
import { endedBefore } from '../core/begin.js';
import type { NamespaceDigest, RecordId } from '../core/ids.js';
import type { Ending } from '../core/outcome.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { MOVED } from '../core/retention.js';
import type { OnceError } from '../errors.js';
import type { Changed } from '../ports.js';
import { idsOf } from './address.js';
import { tryLockInTime } from './claim.js';
import type { Client, OperationAddress } from './client.js';
import { busyError, endOf, failure } from './failure.js';
import { InFlightOperation } from './in-flight.js';
import { lastKnownOf } from './last-known.js';
import { announceChange, publish } from './observe.js';
import { freeFromDeadOwner } from './owner.js';
import { heldElsewhere, returnToStore, updateStored } from './record-access.js';
import { stateOf } from './state-of-record.js';

/** An operation that the app changes. */
export type ByHand = OperationAddress & { readonly client: Client };

/**
 * Changes a record on behalf of the app, then updates the screens. Rejects with ERR_ONCE_BUSY while a live driver holds the
 * record, and with the error that `change` gives, if any. `afterCommit` is called before the claim is released.
 */
export async function changeByHand(
  operation: ByHand,
  change: (
    record: OnceRecord | undefined,
    stored: unknown,
    storeNow: number,
    ids: { readonly id: RecordId; readonly ns: NamespaceDigest },
  ) => Changed<OnceError | undefined>,
  afterCommit?: () => void,
): Promise<void> {
  const { client, operationKey } = operation;
  const { flights, lastKnown } = client.registry;
  const flight = flights.get(operationKey);
  // A listener hears of a call's end a moment before that call releases its claim. If a listener is the caller here, wait for the release.
  if (flight?.ended) await flight.landed;
  if (flights.has(operationKey)) throw busyError(operation);
  // Claims the name in this tick, so that a call made meanwhile waits until the change is stored.
  const hold = new InFlightOperation(client, operationKey);
  let release: Awaited<ReturnType<typeof tryLockInTime>>;
  let storedNow: unknown;
  let justChanged = false;
  try {
    release = await tryLockInTime(client, operation.lock);
    if (!release) throw busyError(operation);
    const ids = await idsOf(client, operation);
    const place = { ...operation, ...ids };
    await returnToStore(place);
    await freeFromDeadOwner(place);
    const next = (found: unknown, storeNow: number): Changed<OnceError | undefined> => {
      // If the store has lost the record of what this realm may have sent, the app is not told that there is nothing to forget.
      const stored = found ?? lastKnownOf(operation, storeNow);
      const record = readRecord(stored);
      const changed = change(record, stored, storeNow, ids);
      const done = readRecord(changed.next)?.ending?.effect === 'done';
      // The driver of what `move` took cannot write its end down any more, so the app may say at once that it is done.
      const busy = heldElsewhere(client, record, storeNow) && !(done && record?.lease?.owner === MOVED);
      const result = busy ? { value: busyError(operation) } : changed;
      // A call that waits for this change meant what is done now. If the app says "none", or forgets it, that call is another operation.
      if (done && !busy) hold.looks[0] = { ended: endedBefore(record) };
      justChanged = result.next !== undefined;
      storedNow = justChanged ? result.next : stored;
      return result;
    };
    const refused = await updateStored(place, next, 'strict');
    if (refused) throw refused;
    lastKnown.delete(operationKey);
    afterCommit?.();
  } finally {
    release?.();
    hold.land();
    announceChange(client);
  }
  // Show what was stored, without reading it again: if the read failed, the caller would be told that the change was not made.
  if (!flights.has(operationKey)) publish(client, operationKey, stateOf(client, operationKey, storedNow, justChanged));
}

/** The error for a change that contradicts the stored record. */
export function refusedChange(
  operation: ByHand,
  record: OnceRecord | undefined,
  code: 'ERR_ONCE_RECORD' | 'ERR_ONCE_UNKNOWN' | 'ERR_ONCE_ALREADY_SETTLED',
  ending: Ending,
): OnceError {
  if (!record) return failure(operation, ending, {}, code);
  return failure(operation, { ...endOf(record, ending, false), sent: record.ambiguous ? 'maybe' : 'no' }, undefined, code);
}
