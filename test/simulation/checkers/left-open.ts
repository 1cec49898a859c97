/** What a page knows of an operation by itself, whatever became of its storage. */
import type { Call, KeyFacts, Send } from '../facts.js';

const toldAt = ({ told }: Call): number => told?.at ?? Number.POSITIVE_INFINITY;

/**
 * Whether this page had left the operation open under this key by then: a call of it that had sent the key was still waiting, or it is the key that the
 * page keeps. It keeps one key of an operation: the first of which it was told that the outcome is unknown, until it hears how that one ended, or that
 * the operation is done. Such a page goes on with the key although its storage was emptied, also for the user who has logged in. `but`: the call that
 * makes the next key, because it has heard that this one was refused.
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
  let kept: string | undefined;
  for (const { told: end } of told) {
    const { key: of, effect } = end?.outcome ?? {};
    if (effect === 'unknown' && wasSentBy(op.keys.get(of ?? ''), context)) kept ??= of;
    else if (effect === 'done' || of === kept) kept = undefined;
  }
  return kept === key.key;
}

const wasSentBy = (key: KeyFacts | undefined, of: string): boolean => key?.sends.some(({ context }) => context === of) ?? false;

/**
 * Whether the page that made the younger key could not know of the older one: the storage had been emptied, and the page itself had not left the operation
 * open under the older key. A random key is nowhere else. A call that waits for another tab meanwhile knows no more than the storage does.
 */
export function wasUnknown(older: KeyFacts, { bornIn, bornAt, evictedBefore, sends }: KeyFacts): boolean {
  const maker = sends.find(({ context }) => context === bornIn)?.call;
  return evictedBefore.has(older.key) && !leftOpen(older, bornIn, bornAt, maker);
}

/**
 * Whether the page that sends a key could not know that the operation is done under another one since: the storage had been emptied, and the page was told
 * nothing of that other key. A page that had left the operation open under the first key has stored that one again.
 */
export function wasDoneUnseen(done: KeyFacts, { key, context, at }: Send): boolean {
  const heard = done.op.calls.some(({ context: of, told }) => of === context && told?.outcome?.key === done.key && told.outcome.effect === 'done');
  return done.end === 'evicted' && done.endedAt <= at && !heard && key.sends.some((send) => send.at < done.endedAt);
}
