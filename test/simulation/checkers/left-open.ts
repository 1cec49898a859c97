/** What a page knows of an operation by itself, whatever became of its storage. */
import type { Call, KeyFacts, Send } from '../facts.js';

const toldAt = ({ told }: Call): number => told?.at ?? Number.POSITIVE_INFINITY;

/**
 * Whether this page had left the operation open under this key by then: a call of it that had sent the key was still waiting, or the last that it was told
 * of a key of the operation is that the outcome under this one is unknown. It keeps no second key of an operation. Such a page goes on with the key
 * although its storage was emptied, also for the user who has logged in. `but`: the call that makes the next key, because it has heard that this one was
 * refused.
 *
 * Not if the app has told the page since that it is over, or if the page has asked only for the answer to what was done. Nor without a name or with a key
 * that is not random: such a key is made again, and a call without a name finds only what is stored. A process keeps nothing, because its database loses
 * nothing.
 */
export function leftOpen(key: KeyFacts, context: string, at: number, but?: Call): boolean {
  const { op, random, settledAt, droppedAt } = key;
  if (op.unnamed || !random || !context.startsWith('tab')) return false;
  const since = droppedAt.get(context) ?? Number.NEGATIVE_INFINITY;
  const own = key.sends.filter((send) => send.context === context && send.at > since && send.at < at && (settledAt === 0 || send.deviceWall < settledAt));
  if (!own.length) return false;
  const before = (call: Call): boolean => call.context === context && call.told?.outcome?.key !== undefined && toldAt(call) < at;
  const told = op.calls.filter(before).sort((a, b) => toldAt(a) - toldAt(b));
  // A guest's call may end as unknown after the user's, which has heard how it ended.
  const sentAt = own.at(-1)?.at ?? 0;
  if (told.some((call) => toldAt(call) >= sentAt && call.told?.outcome?.key === key.key && call.told.outcome.effect !== 'unknown')) return false;
  if (own.some(({ call }) => call && call !== but && toldAt(call) > at)) return true;
  const last = told.at(-1)?.told?.outcome;
  return last?.effect === 'unknown' && last.key === key.key;
}

/**
 * Whether the page that made the younger key could not know of the older one: the storage had been emptied, and the page itself had not left the operation
 * open under the older key. A random key is nowhere else. A call that waits for another tab meanwhile knows no more than the storage does.
 */
export function wasUnknown(older: KeyFacts, younger: KeyFacts): boolean {
  const { bornIn, bornAt, evictedBefore, sends } = younger;
  const maker = sends.find(({ context }) => context === bornIn)?.call;
  return evictedBefore.has(older.key) && (!leftOpen(older, bornIn, bornAt, maker) || hasFollowers(older, younger));
}

/**
 * Whether other pages have sent keys of their own more than once in between. Then the revision of the record is as high as if the older key had ended, and
 * they had come after it.
 */
const hasFollowers = (older: KeyFacts, younger: KeyFacts): boolean =>
  [...older.op.keys.values()]
    .filter((one) => one !== younger && one.bornAt < younger.bornAt && one.evictedBefore.has(older.key))
    .flatMap(({ sends }) => sends)
    .filter(({ at }) => at < younger.bornAt).length > 1;

/**
 * Whether the page that sends a key could not know that the operation is done under another one since: the storage had been emptied, and the page was told
 * nothing of that other key. A page that had left the operation open under the first key has stored that one again.
 */
export function wasDoneUnseen(done: KeyFacts, { key, context, at }: Send): boolean {
  const heard = done.op.calls.some(({ context: of, told }) => of === context && told?.outcome?.key === done.key && told.outcome.effect === 'done');
  return done.end === 'evicted' && done.endedAt <= at && !heard && key.sends.some((send) => send.at < done.endedAt);
}
