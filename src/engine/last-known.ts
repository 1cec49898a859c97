/**
 * What a page or app last knew of its operations, where the store may know less: those that a call left open, in case the store loses their records; and
 * those that are done, although the store may not have taken that. In the table `lastKnown` of the registry, by operation key.
 */
import { bare } from '../core/bare.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import type { OperationRun } from './client.js';
import { keepRecent, OPERATIONS_MAX } from './registry.js';

type Place = Pick<OperationRun, 'client' | 'operationKey'>;

/**
 * Keeps the last record that a call knew: of an operation that it left open, or could not store as done. `lease`: what an earlier driver has left.
 *
 * - Not on a server. Its database seldom loses a record: if one is gone, another process has rather ended the operation, and a sweep removed it since.
 * - Of what is open, only a random key under a name. Other keys are made again anyway, and a call without a name finds only what is stored.
 * - Only what a log-out would keep of the record, because the user may have logged out meanwhile in another tab.
 * - What is known to be done stays done, and gets the revision of `record`.
 */
export function keepLastKnown(job: Place & Pick<OperationRun, 'name'>, record: OnceRecord, lease?: OnceRecord['lease']): void {
  const kept = knownDone(job, record) ?? record;
  const previous = kept.previous?.keyInUse ? { ...kept.previous, previous: undefined } : undefined;
  if (job.client.platform.server || !(kept.ending || (record.random && job.name.length))) return;
  keepRecent(job.client.registry.lastKnown, job.operationKey, seal({ ...bare(kept), revision: record.revision, previous, lease }), OPERATIONS_MAX);
}

/**
 * The last known record of this operation, if that one is done, whatever the store says. `of` tells which operation is meant: a key that the app chose may
 * serve several, one after the other.
 */
export function knownDone(job: Place, of: Pick<OnceRecord, 'key' | 'createdAt'>): OnceRecord | undefined {
  const known = job.client.registry.lastKnown.get(job.operationKey);
  return known?.ending && known.key === of.key && known.createdAt === of.createdAt ? known : undefined;
}

/**
 * The last known record, if it counts beside what is `stored`. One that is open counts if the store has lost its record, has it damaged, or has a
 * refused one of another page in its place, because a new key would be a second effect. One that is done also counts if the store has it as pending or as
 * none. Neither counts after the time for which a name is remembered: the operation may have been done elsewhere by then, and its record swept.
 */
export function lastKnownOf(job: Place & Partial<Pick<OperationRun, 'resumeOnly' | 'settings'>>, storeNow: number, stored?: unknown): OnceRecord | undefined {
  const { client, resumeOnly, settings = client.settings } = job;
  const record = !resumeOnly && client.registry.lastKnown.get(job.operationKey);
  const found = record && readRecord(stored);
  // While a record is there, its revision only rises. So the store has lost what this page left open, and another page has begun the name anew.
  const refused = found && found.state === 'retired' && record.ambiguous && found.key !== record.key && found.revision <= record.revision;
  const counts = !found || refused || ((found.ending?.effect ?? 'none') === 'none' && knownDone(job, found));
  return record && counts && record.touchedAt + settings.keep.forMs > storeNow ? record : undefined;
}
