/** What is stored, and what is kept in memory, of an operation that has ended. */

import { bare } from '../core/bare.js';
import { doneBefore } from '../core/begin.js';
import type { Ending } from '../core/outcome.js';
import { type EndedRecord, type OnceRecord, type PendingRecord, type StoredAnswer, seal } from '../core/record.js';
import { retiredForgetAt, settledForgetAt } from '../core/retention.js';
import { keyOfAnswer } from './address.js';
import type { OperationRun } from './client.js';
import { keepLastKnown, knownDone } from './last-known.js';
import { commit } from './record-access.js';
import { keepRecent } from './registry.js';
import type { Result } from './result.js';
import type { StoredAnswers } from './stored-parts.js';
import { isAbandoned } from './wait.js';

/** What is stored of an operation's end in addition to its ending. */
type AtRest = Partial<Pick<EndedRecord, 'sticky' | 'keyInUse' | 'refusal' | 'payloads' | 'answer'>>;

/** Ends a record: `settled` when it is done, otherwise `retired`, which tells the next operation its key or its generation. */
export async function endRecord(
  job: Pick<OperationRun, 'client' | 'operationKey' | 'id' | 'name' | 'label' | 'settings' | 'deadline' | 'seen' | 'stop'>,
  record: PendingRecord,
  ending: Ending,
  { sticky = false, keyInUse, answer, ...rest }: AtRest = {},
): Promise<boolean> {
  const { keep, limits, repeat } = job.settings;
  const done = ending.effect === 'done';
  // This page knows that the operation took effect, so nothing ends it as none.
  if (!done && knownDone(job, record)) return false;
  // A key that is not random can be made again. Only the record knows its generation. Without the record, the first key would be made again, and
  // the server would answer a new operation with the result of the old one. So keep the record as long as the server remembers the key.
  const keepMs = record.random || (repeat === 'never' && !record.generation) ? keep.forMs : Math.max(keep.forMs, limits.keyWindowMs);
  // An unnamed operation answers only calls that already wait for it.
  const named = job.name.length > 0;
  // If the app or a duplicate says that it is done, the server may not know this key. Then only the record keeps the next call from sending.
  const durability = ending.type === 'replayed' && ending.from !== 'server' ? 'strict' : 'relaxed';
  // The answer for a second write. If the store asks for the record and then fails, it may be full: then the second write is without the answer. If it
  // fails before it asks, it may only have been locked: then both are the same.
  let second = answer;
  const ended = (now: number, latest = now, kept?: StoredAnswer): OnceRecord => {
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
      touchedAt: now + job.seen.aheadMs,
      forgetAt,
      answer: kept,
      previous: done ? undefined : doneBefore(record),
    });
  };
  const put = (kept: StoredAnswer | undefined): Promise<boolean> => {
    const next = (now: number, latest: number): OnceRecord => {
      second = undefined;
      return ended(now, latest, kept);
    };
    return commit(job, record, next, durability);
  };
  const stored = (await put(answer)) || (!!answer && (await put(second)));
  if (stored) job.client.registry.lastKnown.delete(job.operationKey);
  // Keep in memory that it is done. With `always`, the next call means another effect, unless no caller has heard of this one: because all gave up, or are
  // told `unknown`. Then keep it as open, so that the next call goes on with it.
  else if (done) {
    const unheard = isAbandoned(job) || (ending.type === 'replayed' && ending.from === 'elsewhere');
    keepLastKnown(job, repeat === 'always' && unheard ? record : ended(job.client.platform.clock.now()));
  }
  return stored;
}

/** How answers of this operation are stored; `undefined` if they are not, because the client has no feature for it. */
export const answersOf = ({ client, payload }: OperationRun): StoredAnswers<OperationRun> | undefined => payload?.answers ?? client.parts.answers;

/** How many answers are kept in memory. */
const ANSWERS_MAX = 32;

/** Keeps the answer in this context's memory for the next call of its name. */
export function remember(job: OperationRun, record: OnceRecord, result: Result): void {
  const { client, settings } = job;
  const { answers } = client.registry;
  if (settings.keep.response === false || !result.lasting) return;
  keepRecent(answers, keyOfAnswer(job.operationKey, record), [result], ANSWERS_MAX, (box) => box.pop());
}
