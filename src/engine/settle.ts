/** What is stored and remembered of an operation that has ended. */

import type { KeyedOperation } from '../core/ids.js';
import type { Ending } from '../core/outcome.js';
import { bare, type EndedRecord, type OnceRecord, type PendingRecord, type StoredAnswer, seal } from '../core/record.js';
import { retiredForgetAt, settledForgetAt } from '../core/retention.js';
import type { OperationRun } from './client.js';
import { commit, storeForOperation } from './record-access.js';
import { keepRecent, keyedOperationOf } from './registry.js';
import type { Result } from './result.js';
import type { Start } from './stopped.js';

/** What is stored of how an operation ended, besides its ending. */
export type AtRest = Partial<Pick<EndedRecord, 'sticky' | 'keyInUse' | 'refusal' | 'payloads' | 'answer'>>;

/** Ends a record: `settled` when it is done, otherwise `retired`, which tells the next operation its key or its generation. */
export async function settleRecord(
  job: Pick<OperationRun, 'client' | 'operationKey' | 'id' | 'name' | 'label' | 'settings' | 'deadline'>,
  record: PendingRecord,
  ending: Ending,
  { sticky = false, keyInUse, answer, ...rest }: AtRest = {},
): Promise<boolean> {
  const { keep, limits, repeat } = job.settings;
  const done = ending.effect === 'done';
  // It knows which of the keys that can be made again come next: without it the first one would, and be answered by what it did.
  const keepMs = record.random || repeat === 'never' ? keep.forMs : Math.max(keep.forMs, limits.keyWindowMs);
  // An unnamed operation answers only calls that already wait for it.
  const named = job.name.length > 0;
  const put = (kept: StoredAnswer | undefined): Promise<boolean> =>
    commit(job, record, (now, latest) => {
      const forgetAt = done ? settledForgetAt(latest, named ? keepMs : 0, limits.totalMs) : retiredForgetAt(record, latest, limits.totalMs, keyInUse && named);
      const state = done ? 'settled' : 'retired';
      const end = { state, ending, sticky, keyInUse, refusedOnly: undefined, settledAt: now, touchedAt: now, forgetAt, answer: kept } as const;
      return seal({ ...bare(record), ...rest, ...end });
    });
  // If the store is full, there may be room without the answer.
  return (await put(answer)) || (answer !== undefined && (await put(undefined)));
}

/** The answer as it is to be stored, if at all. In a browser, nothing readable is stored without a namespace. */
export function answerToStore(job: OperationRun, result: Result | undefined): StoredAnswer | undefined {
  const { settings, client, name } = job;
  const { server } = client.platform;
  const { responseOnServer, responseElsewhere } = settings.tuning;
  // Decided here, because a store may be chosen late. A store that ends with its context needs no second copy.
  const lasts = server && name.length > 0 && storeForOperation(job).survives !== 'context';
  const kept = settings.keep.response ?? (lasts ? responseOnServer : responseElsewhere);
  return kept === 'disk' && (settings.namespace || server) ? result?.stored() : undefined;
}

/** Where the table `answers` has that of a record. A key that is not random may stand for another operation, later. */
export const answerOf = ({ operationKey }: OperationRun, { key, createdAt }: OnceRecord): KeyedOperation =>
  `${keyedOperationOf(operationKey, key)} ${createdAt}` as KeyedOperation;

/** Keeps the answer in this context for the next call of its name. */
export function remember(job: OperationRun, record: OnceRecord, result: Result): void {
  const { client, settings } = job;
  const { answers } = client.registry;
  if (settings.keep.response === false || !result.lasting) return;
  keepRecent(answers, answerOf(job, record), result, settings.tuning.answersMax);
}

/** Whether this call's payload is known to be the one that took effect. The answer to another payload must not be given to this call. */
export const isOwn = ({ resumeOnly, fingerprint }: OperationRun, { payloads }: OnceRecord): boolean =>
  resumeOnly || payloads.every((one) => one === fingerprint);

/** What went out under this key before it was begun anew, and was refused. */
export const refusedPayloads = ({ key, refusedBefore, previous }: OnceRecord): readonly string[] =>
  (refusedBefore && previous?.key === key && previous.payloads) || [];

/** The payload that took effect, or all that may have, if nothing tells. */
export function payloadsOf(
  { payloads }: OnceRecord,
  ending: Ending,
  earlier: boolean | undefined,
  start: Pick<Start, 'refusedOnly' | 'record'>,
): readonly string[] {
  if (ending.effect !== 'done') return payloads;
  const all = earlier || (ending.type === 'fresh' && ending.changed) ? [...new Set([...refusedPayloads(start.record), ...payloads])] : payloads;
  if (earlier) return all.filter((one) => one !== payloads.at(-1));
  // Only the server's own answer tells which payload took effect. If all before it were refused, it is the last one.
  const sure = start.refusedOnly || (ending.type === 'fresh' ? ending.certain : ending.from === 'server');
  return sure ? payloads.slice(-1) : all;
}
