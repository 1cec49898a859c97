/** What is stored, and what is kept in memory, of an operation that has ended. */

import type { Settle } from '../core/decide.js';
import type { KeyedOperation } from '../core/ids.js';
import type { Ending } from '../core/outcome.js';
import { bare, type EndedRecord, type OnceRecord, type PendingRecord, type StoredAnswer, seal } from '../core/record.js';
import { retiredForgetAt, settledForgetAt } from '../core/retention.js';
import type { StoredAnswers } from './at-rest.js';
import type { OperationRun } from './client.js';
import { commit } from './record-access.js';
import { keepLeftOpen, keepRecent, keyedOperationOf, knownDone } from './registry.js';
import type { Result } from './result.js';
import type { Start } from './stopped.js';
import { isAbandoned } from './wait.js';

/** What is stored of an operation's end in addition to its ending. */
export type AtRest = Partial<Pick<EndedRecord, 'sticky' | 'keyInUse' | 'refusal' | 'payloads' | 'answer'>>;

/** Ends a record: `settled` when it is done, otherwise `retired`, which tells the next operation its key or its generation. */
export async function settleRecord(
  job: Pick<OperationRun, 'client' | 'operationKey' | 'id' | 'name' | 'label' | 'settings' | 'deadline' | 'aheadMs' | 'stop'>,
  record: PendingRecord,
  ending: Ending,
  { sticky = false, keyInUse, answer, ...rest }: AtRest = {},
): Promise<boolean> {
  const { keep, limits, repeat } = job.settings;
  const done = ending.effect === 'done';
  // Whatever is said of it now: this page has heard that it took effect.
  if (!done && knownDone(job, record)) return false;
  // A key that is not random can be made again. Only the record knows its generation. Without the record, the first key would be made again, and
  // the server would answer a new operation with the result of the old one. So keep the record as long as the server remembers the key.
  const keepMs = record.random || (repeat === 'never' && !record.generation) ? keep.forMs : Math.max(keep.forMs, limits.keyWindowMs);
  // An unnamed operation answers only calls that already wait for it.
  const named = job.name.length > 0;
  // If the app or a duplicate says that it is done, the server may not know this key. Then only the record keeps the next call from sending.
  const durability = ending.type === 'replayed' && ending.from !== 'server' ? 'strict' : 'relaxed';
  let next = answer;
  const ended =
    (kept?: StoredAnswer) =>
    (now: number, latest = now): OnceRecord => {
      // The store asks for the record, so if the write fails, the store may be full: write it again without the answer. If the store fails before
      // it asks, it may only have been locked: write it again as it is.
      next = undefined;
      const forgetAt = done ? settledForgetAt(latest, named ? keepMs : 0, limits.totalMs) : retiredForgetAt(record, latest, limits.totalMs, keyInUse && named);
      const state = done ? 'settled' : 'retired';
      return seal({
        ...bare(record),
        ...rest,
        state,
        ending,
        sticky,
        keyInUse,
        refusedOnly: undefined,
        settledAt: now,
        touchedAt: now + job.aheadMs,
        forgetAt,
        answer: kept,
        previous: done ? undefined : doneBefore(record),
      });
    };
  const put = (kept: StoredAnswer | undefined): Promise<boolean> => commit(job, record, ended(kept), durability);
  const stored = (await put(answer)) || (!!answer && (await put(next)));
  if (stored) job.client.registry.leftOpen.delete(job.operationKey);
  // It is done, even if the store has lost the record and no longer takes that. With `always`, the next call means another effect, unless the callers
  // gave up, or are told `unknown`: then it goes on with this one.
  else if (done) {
    const unheard = isAbandoned(job) || (ending.type === 'replayed' && ending.from === 'elsewhere');
    keepLeftOpen(job, repeat === 'always' && unheard ? record : ended()(job.client.platform.clock.now()));
  }
  return stored;
}

/** What was done before an operation of which nothing took effect. */
export const doneBefore = ({ previous }: Pick<OnceRecord, 'previous'>): EndedRecord | undefined =>
  previous?.state === 'settled' ? previous : previous?.previous;

/** How answers of this operation are stored; `undefined` if they are not, because the client has no feature for it. */
export const answersOf = ({ client, payload }: OperationRun): StoredAnswers<OperationRun> | undefined => payload?.answers ?? client.parts.answers;

/**
 * The key of a record's answer in the table `answers`. It has the time of creation in it, because a key that is not random may later
 * stand for another operation.
 */
export const answerOf = ({ operationKey }: OperationRun, { key, createdAt }: OnceRecord): KeyedOperation =>
  `${keyedOperationOf(operationKey, key)} ${createdAt}` as KeyedOperation;

/** How many answers are kept in memory. */
const ANSWERS_MAX = 32;

/** Keeps the answer in this context's memory for the next call of its name. */
export function remember(job: OperationRun, record: OnceRecord, result: Result): void {
  const { client, settings } = job;
  const { answers } = client.registry;
  if (settings.keep.response === false || !result.lasting) return;
  keepRecent(answers, answerOf(job, record), [result], ANSWERS_MAX, (box) => box.pop());
}

/**
 * Whether this call's payload is known to be the one that took effect. This call must not get the answer to another payload. A record that
 * lists none does not know.
 */
export const isOwn = ({ resumeOnly, fingerprint }: OperationRun, { payloads }: OnceRecord): boolean =>
  resumeOnly || (payloads.length === 1 && payloads[0] === fingerprint);

/** Payloads that were sent under this key and refused, before an operation began anew under the same key. */
const refusedPayloads = ({ key, refusedBefore, previous }: OnceRecord): readonly string[] =>
  (refusedBefore && previous?.key === key && previous.payloads) || [];

/** Whether other payloads have gone out under this key, in the same operation or refused before it began. */
export const hasOthers = ({ changed, record }: Pick<Start, 'changed' | 'record'>): boolean =>
  changed || refusedPayloads(record).some((one) => one !== record.payloads.at(-1));

/** The payload that took effect; all that may have, if nothing tells which one did. */
export function payloadsOf(
  { payloads }: OnceRecord,
  ending: Ending,
  { earlier, marked }: Pick<Settle, 'earlier' | 'marked'>,
  start: Pick<Start, 'refusedOnly' | 'record'>,
): readonly string[] {
  if (ending.effect !== 'done') return payloads;
  const all = earlier || (ending.type === 'fresh' && ending.changed) ? [...new Set([...refusedPayloads(start.record), ...payloads])] : payloads;
  if (earlier) return all.filter((one) => one !== payloads.at(-1));
  // Only the server's own answer tells which payload took effect. If all earlier ones were refused, it is the last one, unless the answer is a replay.
  const sure = (start.refusedOnly && !marked) || (ending.type === 'fresh' ? ending.certain : ending.from === 'server');
  return sure ? payloads.slice(-1) : all;
}
