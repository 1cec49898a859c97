/** Reads and writes of one operation's record, each within its time. */

import { marked } from '../core/begin.js';
import { holds, isStill } from '../core/ownership.js';
import { type OnceRecord, type PendingRecord, readRecord } from '../core/record.js';
import { leaseHolds, MOVED, stampAt } from '../core/retention.js';
import type { Changed, Durability, Store } from '../ports.js';
import type { Client, OperationRun } from './client.js';
import { emit } from './observe.js';
import { Late, within } from './wait.js';

/** The place of one record, and the deadline of the call, ms since 1970, if there is one. */
type Place = Pick<OperationRun, 'client' | 'operationKey' | 'id'> & { readonly deadline?: number | undefined };

/** Where this operation's record lives. */
export const storeForOperation = ({ client, operationKey }: Omit<Place, 'id'>): Store => client.registry.degraded.get(operationKey) ?? client.store;

/** The store has a name again when what was kept in memory of it is gone. */
export async function giveBack({ client, operationKey, id }: Place): Promise<void> {
  const { degraded } = client.registry;
  const kept = degraded.get(operationKey);
  if (kept && (await kept.read(id)) === undefined) degraded.delete(operationKey);
}

/** What the record outlives: nothing, the page, the browser or process. */
export const storedIn = (store: Store): 'disk' | 'session' | 'memory' =>
  store.storedIn?.() ?? (store.shared === 'context' ? 'memory' : store.survives === 'context' ? 'session' : 'disk');

/**
 * A store call with a timeout. `until`: the deadline of the call, ms since 1970. After it there is still a moment to store a
 * result, because a proof that was not stored would have to be found out again.
 */
export function timed<T>({ platform, settings: { tuning } }: Client, work: Promise<T>, until?: number): Promise<T> {
  const left = until === undefined ? tuning.storeTimeoutMs : Math.max(tuning.thawMs, until - platform.clock.now());
  const ms = Math.min(tuning.storeTimeoutMs, left);
  return within(platform.clock, ms, work, () => new Late(`the store did not answer within ${ms} ms`));
}

/** Rejects, too, where a store throws at once. */
export const readStored = async (place: Place): Promise<unknown> => timed(place.client, storeForOperation(place).read(place.id), place.deadline);

/**
 * One update of a record, in `store` or else where the operation's record lives. Rejects when the store fails or is too late; if the
 * store runs the change after that, the change does nothing.
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
 * Replaces the record that this driver knows, if the driver still owns it; `false` if not, or if the store fails: a late
 * writer changes nothing. `next` gets the local time, and the later one of local time and the store's,
 * from which it counts how long the record is kept; it gives `null` to remove.
 */
export async function commit(
  job: Pick<OperationRun, 'client' | 'operationKey' | 'id' | 'name' | 'label' | 'deadline'>,
  known: OnceRecord,
  next: (now: number, latest: number) => OnceRecord | null,
  durability: Durability = 'relaxed',
): Promise<boolean> {
  const { client } = job;
  try {
    return await updateStored<boolean>(
      job,
      (stored, storeNow) => {
        const record = readRecord(stored);
        if (record?.state !== 'pending' || record.key !== known.key) return { value: false };
        if (isStill(known, record)) {
          const now = client.platform.clock.now();
          const after = next(now, Math.max(now, storeNow));
          // Another driver woke up and goes on, while this one, which took no lease, asked what became of the operation. Where a
          // move only left an attempt on the wire, nobody drives: what is done is done.
          if (heldElsewhere(client, record, storeNow) && (record.lease?.owner !== MOVED || after?.state !== 'settled')) return { value: false };
          return { next: leased(after, record), value: true };
        }
        // A log-out or a move has taken the record and left the lease. This driver has stopped, so it releases the lease.
        return holds(known, record) ? { next: { ...record, lease: undefined }, value: false } : { value: false };
      },
      durability,
    );
  } catch (cause) {
    emit(client, job, known.key, { type: 'diagnostic', code: 'store-write', cause });
    return false;
  }
}

/** Marks a record that was stored clean, before its first attempt leaves; `undefined` if that could not be stored. */
export async function commitMark(job: OperationRun, record: PendingRecord): Promise<PendingRecord | undefined> {
  const now = job.client.platform.clock.now();
  const storeNow = now + job.aheadMs;
  const next = marked(record, job.settings.limits.keyWindowMs, stampAt(now, storeNow), storeNow);
  return (await commit(job, record, () => next, job.name.length ? 'strict' : 'relaxed')) ? next : undefined;
}

/** Keeps the stored lease: the driver's own copy is from its first look, and the stored one was renewed since. */
const leased = (next: OnceRecord | null, { lease }: OnceRecord): OnceRecord | null => (next?.lease && lease ? { ...next, lease } : next);

/** Whether a live driver elsewhere holds this record. */
export const heldElsewhere = ({ owner }: Client, { lease }: Partial<OnceRecord> = {}, now: number): boolean => leaseHolds(lease, now) && lease.owner !== owner;

/** For a call that never began: true if what is stored shows that nothing was sent; `absent`: what it says where nothing is stored. Rejects if the store can't be read. */
export async function nothingSent(place: Place, absent = true): Promise<boolean> {
  const { platform, settings } = place.client;
  const askedAt = platform.clock.now();
  await giveBack(place);
  const stored = await readStored(place);
  // If the process was suspended while reading, the result may be stale: treat it as unknown.
  if (Math.abs(platform.clock.now() - askedAt) > settings.tuning.thawMs) return false;
  if (stored === undefined) return absent;
  // One that is pending, and clean, may be sent at any moment: by another tab, by the outbox, by a resume.
  return readRecord(stored)?.ending?.effect === 'none';
}
