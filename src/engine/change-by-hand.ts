/** Claims one operation for a change that the app asks for (`settle`, `forget`), and refuses a change that would contradict the record. */
import { endedBefore } from '../core/begin.js';
import type { NamespaceDigest, RecordId } from '../core/ids.js';
import type { Ending } from '../core/outcome.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { MOVED } from '../core/retention.js';
import { OnceError } from '../errors.js';
import type { Changed } from '../ports.js';
import { idsOf } from './address.js';
import { leftOpen, tryLockInTime } from './claim.js';
import type { Client, OperationAddress } from './client.js';
import { busyError, failure, rememberedOutcome } from './failure.js';
import { InFlightOperation } from './in-flight.js';
import { announceChange, publish } from './observe.js';
import { freeFromDeadOwner } from './owner.js';
import { heldElsewhere, returnToStore, updateStored } from './record-access.js';
import { stateOf } from './shown.js';

/** Takes the claim of a name for one change; rejects with ERR_ONCE_BUSY while a live driver holds it. */
async function claimed<T>(
  client: Client,
  address: OperationAddress,
  work: (id: RecordId, ns: NamespaceDigest, hold: InFlightOperation) => Promise<T>,
): Promise<T> {
  const { flights } = client.registry;
  const flight = flights.get(address.operationKey);
  // A listener hears of a call's end a moment before that call releases its claim. If a listener is the caller here, wait for the release.
  if (flight?.ended) await flight.landed;
  if (flights.has(address.operationKey)) throw busyError({ client, ...address });
  // Claims the name in this tick, so that a call made meanwhile waits until the change is stored.
  const hold = new InFlightOperation(client, address.operationKey);
  try {
    const release = await tryLockInTime(client, address.lock);
    if (!release) throw busyError({ client, ...address });
    const { id, ns } = await idsOf(client, address);
    const place = { client, ...address, id };
    await returnToStore(place);
    await freeFromDeadOwner(place);
    return await work(id, ns, hold).finally(release);
  } finally {
    hold.land();
    announceChange(client);
  }
}

/**
 * Changes a record on behalf of the app, then updates the screens. Rejects with ERR_ONCE_BUSY while a live driver holds the
 * record, and with the error that `change` gives, if any. `afterCommit` is called before the claim is released.
 */
export async function changeByHand(
  client: Client,
  address: OperationAddress,
  change: (
    record: OnceRecord | undefined,
    stored: unknown,
    storeNow: number,
    ids: { readonly id: RecordId; readonly ns: NamespaceDigest },
  ) => Changed<OnceError | undefined>,
  afterCommit?: () => void,
): Promise<void> {
  const { operationKey } = address;
  let storedNow: unknown;
  let justChanged = false;
  await claimed(client, address, async (id, ns, hold) => {
    const next = (found: unknown, storeNow: number): Changed<OnceError | undefined> => {
      // If the store has lost the record of what this realm may have sent, the app is not told that there is nothing to forget.
      const stored = found ?? leftOpen({ client, operationKey, settings: client.settings }, storeNow);
      const record = readRecord(stored);
      const changed = change(record, stored, storeNow, { id, ns });
      const done = readRecord(changed.next)?.ending?.effect === 'done';
      // The driver of what `move` took cannot write its end down any more, so the app may say at once that it is done.
      const busy = heldElsewhere(client, record, storeNow) && !(done && record?.lease?.owner === MOVED);
      const result = busy ? { value: busyError({ client, ...address }) } : changed;
      // A call that waits for this change meant what is done now. If the app says "none", or forgets it, that call is another operation.
      if (done && !busy) hold.looks[0] = { ended: endedBefore(record) };
      justChanged = result.next !== undefined;
      storedNow = justChanged ? result.next : stored;
      return result;
    };
    const refused = await updateStored({ client, operationKey, id }, next, 'strict');
    if (refused) throw refused;
    client.registry.leftOpen.delete(operationKey);
    afterCommit?.();
  });
  // Show what was stored, without reading it again: if the read failed, the caller would be told that the change was not made.
  if (!client.registry.flights.has(operationKey)) publish(client, operationKey, stateOf(client, operationKey, storedNow, justChanged));
}

/** The error for a change that contradicts the stored record. */
export function refusal(
  client: Client,
  address: OperationAddress,
  record: OnceRecord | undefined,
  code: 'ERR_ONCE_RECORD' | 'ERR_ONCE_UNKNOWN' | 'ERR_ONCE_ALREADY_SETTLED',
  ending: Ending,
): OnceError {
  if (!record) return failure({ client, ...address }, ending, {}, code);
  return new OnceError(code, { ...rememberedOutcome({ client, ...address }, record, ending, false), sent: record.ambiguous ? 'maybe' : 'no' });
}
