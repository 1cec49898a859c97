/** What a call does after the store did not take its new record. */
import type { Begun } from '../core/claimant.js';
import { unsent } from '../core/outcome.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import type { OperationRun } from './client.js';
import { failure, orStoreError, storeError } from './failure.js';
import { emit } from './observe.js';
import { readStored, updateStored } from './record-access.js';
import { Late } from './wait.js';

type Inserted = Extract<Begun, { do: 'drive' }>;

/** Decides what to do after the write of a new record failed or timed out, by what is stored now. `isSecond`: it has failed twice. */
export async function afterFailedInsert(job: OperationRun, begun: Inserted, cause: unknown, isSecond: boolean, again: () => Promise<Begun>): Promise<Begun> {
  const { client, operationKey } = job;
  const stored = await orStoreError(job, readStored(job));
  const record = readRecord(stored);
  // The record is there in spite of the error, but perhaps not yet on the disk or the replicas. One more write makes sure.
  if (record && sameRecord(record, begun) && (await writeAgain(job, begun, record))) return begun;
  if (stored !== undefined) throw storeError(job, cause);
  if (job.settings.required) {
    const removed = begun.record.random && (await writeAgain(job, begun, null)) && !(cause instanceof Late);
    throw removed ? failure(job, unsent('store-write'), { cause }) : storeError(job, cause);
  }
  // A write that timed out may still be committed, and another context would find it.
  if (cause instanceof Late) throw storeError(job, cause);
  // Nothing is stored. The failure may have passed, as that of a lost connection has, so try once more: in memory, no other tab and no later page would
  // find the key. Beside a store that is not atomic, later keys of a name that is kept in memory are derived, too.
  if (isSecond) {
    client.registry.degraded.set(operationKey, { ...client.fallback(), atomic: client.store.atomic });
    emit(job, begun.record.key, { type: 'diagnostic', code: 'store-degraded', cause });
  }
  return again();
}

/** Whether this is the record that this call inserted. The key alone does not tell, because a key that is not random may be that of an earlier record. */
const sameRecord = ({ sum, lease }: OnceRecord, { record: own }: Inserted): boolean => sum === own.sum && lease?.owner === own.lease?.owner;

/** After a failed write: stores the record again, or removes it (`next` is `null`). `true` only if it is certain that this was done. */
async function writeAgain(job: OperationRun, begun: Inserted, next: OnceRecord | null): Promise<boolean> {
  const change = (stored: unknown) => {
    const record = readRecord(stored);
    return record && sameRecord(record, begun) ? { next, value: true } : { value: stored === undefined && !next };
  };
  // A removal gets the store's full time: only a removal that is certain lets the call say that nothing was sent.
  const place = next ? job : { ...job, deadline: undefined };
  return updateStored<boolean>(place, change, 'strict').catch(() => false);
}
