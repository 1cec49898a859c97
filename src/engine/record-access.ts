/** Reads and writes of one operation's record, each with a time limit. */

import { holds, isStill } from '../core/ownership.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { leaseHolds, MOVED } from '../core/retention.js';
import type { Changed, Durability, Store } from '../ports.js';
import type { Client, OperationRun } from './client.js';
import { knownDone, lastKnownOf } from './last-known.js';
import { emit } from './observe.js';
import { Late, sleptSince, THAW_MS, within } from './wait.js';

/** How long a store may take. After that it counts as failed. A call whose first look at its record comes later than this has slept. */
export const STORE_TIMEOUT_MS = 10_000;

/** Where one record is, and the deadline of the call (ms since 1970) if there is one. */
type Place = Pick<OperationRun, 'client' | 'operationKey' | 'id'> & { readonly deadline?: number | undefined };

/** Where this operation's record lives. */
export const storeForOperation = ({ client, operationKey }: Omit<Place, 'id'>): Store => client.registry.degraded.get(operationKey) ?? client.store;

/** The time by the store's clock, ms. Times in a record are by that clock, because machines have different ones. */
export const storeTimeOf = (job: Pick<OperationRun, 'client' | 'seen'>): number => job.client.platform.clock.now() + job.seen.aheadMs;

/** If the operation's record was kept in memory and is gone from there, its next record goes to the store again. */
export function returnToStore({ client, operationKey, id }: Place): Promise<unknown> | undefined {
  const { degraded } = client.registry;
  const kept = degraded.get(operationKey)?.read(id);
  return kept?.then((stored) => stored === undefined && degraded.delete(operationKey));
}

/** Where records of this store live, as an outcome says it. */
export const storedIn = (store: Store): 'disk' | 'session' | 'memory' =>
  store.storedIn?.() ?? (store.shared === 'context' ? 'memory' : store.survives === 'context' ? 'session' : 'disk');

/**
 * A store call with a timeout. `until`: the deadline of the call, ms since 1970. Even after the deadline the store gets {@link THAW_MS},
 * because a later call would have to find out again what is not stored.
 */
export function timed<T>({ platform }: Client, work: Promise<T>, until?: number): Promise<T> {
  const ms = Math.min(STORE_TIMEOUT_MS, Math.max(THAW_MS, (until ?? Infinity) - platform.clock.now()));
  return within(platform.clock, ms, work, () => new Late(`the store did not answer in ${ms} ms`));
}

/** Reads the record. Async, so that it also rejects if the store throws synchronously. */
export const readStored = async (place: Place): Promise<unknown> => timed(place.client, storeForOperation(place).read(place.id), place.deadline);

/**
 * One update of a record: in `store` if given, otherwise where the operation's record lives. Rejects if the store fails or takes too
 * long. If the store runs the change after that, the change does nothing.
 */
export async function updateStored<T>(
  place: Place | (Omit<Place, 'operationKey'> & { readonly store: Store }),
  change: (stored: unknown, now: number) => Changed<T>,
  durability: Durability = 'relaxed',
): Promise<T> {
  const store = 'store' in place ? place.store : storeForOperation(place);
  let over = false;
  const inTime = (stored: unknown, now: number): Changed<T> => (over ? { value: undefined as T } : change(stored, now));
  try {
    return await timed(place.client, store.update(place.id, inTime, { durability }), place.deadline);
  } finally {
    over = true;
  }
}

/**
 * Replaces the record that this driver knows, unless it belongs to another driver by now: a late writer changes nothing. `false` if it does, or if the
 * store fails. `next` makes the new record, or gives `null` to remove the old one. It gets the local time, and the later of local time and the store's,
 * from which the time counts for which the record is kept.
 */
export async function commit(
  job: Pick<OperationRun, 'client' | 'operationKey' | 'id' | 'name' | 'label' | 'deadline'>,
  known: OnceRecord,
  next: (now: number, latest: number) => OnceRecord | null,
  durability?: Durability,
): Promise<boolean> {
  const { client } = job;
  try {
    return await updateStored<boolean>(
      job,
      (stored, storeNow) => {
        const record = readRecord(stored);
        if (record?.state !== 'pending' || record.key !== known.key) return { value: false };
        const now = client.platform.clock.now();
        const after = next(now, Math.max(now, storeNow));
        if (isStill(known, record)) {
          // Another driver has woken up and renewed its lease, while this one had none and was asking what became of the operation. The
          // lease of a move is different: nobody drives, only an attempt may be under way, so a proven effect may be stored.
          if (heldElsewhere(client, record, storeNow) && (record.lease?.owner !== MOVED || after?.state !== 'settled')) return { value: false };
          // Keep the stored lease, which has been renewed since the driver made its own copy of the record.
          return { next: after && holds(after, record) ? { ...after, lease: record.lease } : after, value: true };
        }
        // A log-out has changed the record but left this driver's lease. The driver has stopped, so it gives the lease back, or leaves that of an
        // earlier driver, whose last attempt may still be on its way.
        return { value: false, ...(holds(known, record) && { next: { ...record, lease: after?.lease } }) };
      },
      durability,
    );
  } catch (cause) {
    emit(job, known.key, { type: 'diagnostic', code: 'store-write', cause });
    return false;
  }
}

/** Whether a live driver elsewhere holds this record. */
export const heldElsewhere = ({ owner }: Client, { lease }: Partial<OnceRecord> = {}, now: number): boolean => leaseHolds(lease, now) && lease.owner !== owner;

/**
 * For a call that never began: whether the store shows that nothing of the operation was sent. `absent`: the result if nothing is stored.
 * Rejects if the store can't be read.
 */
export async function nothingSent(place: Place, absent = true): Promise<boolean> {
  const askedAt = place.client.platform.clock.now();
  await returnToStore(place);
  const stored = await readStored(place);
  // If the process was suspended while reading, the result may be stale: treat it as unknown.
  if (sleptSince(place.client, askedAt)) return false;
  // An earlier call of this realm may have left the operation open. On a store that is not atomic, keys are derived, so this key may have been sent before its
  // record was lost.
  if (stored === undefined) return absent && storeForOperation(place).atomic && !place.client.registry.lastKnown.has(place.operationKey);
  // Even a clean pending record proves nothing: another tab, the outbox or a resume may send it at any moment. Nor does an end as none that another
  // tab has stored of what this page knows to be done, or has left open under another key.
  const record = readRecord(stored);
  return record?.ending?.effect === 'none' && !knownDone(place, record) && !lastKnownOf(place, askedAt, stored);
}
