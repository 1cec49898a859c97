/** What others may do with a record while a call drives it. */
import { type Call, type Commit, does, type KeyFacts, type Ledger, type Send } from '../facts.js';
import { inMemoryOnly } from './excuse.js';
import { wasUnknown } from './left-open.js';

export const NAME = 'one-key';

/** The most time from the last look at the record to the request on the wire, or to the call of a hook. */
export const LATE_MS_MAX = 50;
const DAY_MS = 86_400_000;

/** `forget` and `settle` must be refused while a call drives the operation. Only a log-out (`clear`) and a log-in (`move`) may override a lease. */
export function endedByAnother({ op, before, after, context, byHand, why, memory, storeNow }: Commit, ledger: Ledger): void {
  if (why !== 'written' || memory || before?.state !== 'pending') return;
  const key = op.keys.get(before.key);
  if (!key || (after?.key === before.key && after.state === 'pending')) return;
  // A call that began to drive before the deed holds the claim. A call that came later waited for the deed.
  const driving = (since: number) => op.calls.find((call) => call.context === context && !call.told && !call.dead && drives(call.id, key, since));
  for (const { what, since } of byHand) {
    const driver = what !== 'clear' && what !== 'clear-forget' && what !== 'move' ? driving(since) : undefined;
    if (driver) ledger.violate(NAME, op, `${what} ended ${key.key} while call ${driver.id} of the same context drove it`);
  }
  const onItsWay = does(byHand, 'settle', 'settle-soon') && after?.ending?.effect === 'none' && key.sends.find((send) => mayArrive(send, ledger.now()));
  if (onItsWay) ledger.violate(NAME, op, `settled ${key.key} as none, and the attempt of ${onItsWay.context} at ${onItsWay.at} may still arrive`);
  const { held } = key;
  const comesOver = does(byHand, 'clear', 'clear-forget', 'move');
  // A lease that lasts a day or more was taken by a clock that was wrong, so nobody respects it.
  const holds = held !== undefined && held.until > storeNow && held.until < storeNow + DAY_MS;
  if (ledger.exact && holds && held.context && held.context !== context && !comesOver)
    ledger.violate(NAME, op, `${key.key} was ended by ${context} while ${held.context} held its lease for ${held.until - storeNow} ms more`);
}

/** Whether an attempt may be on its way as far as a client can know: its process or page, whose lease the record has, died or sleeps. */
const mayArrive = ({ at, attemptMs, over }: Send, now: number): boolean => !over && now < at + attemptMs;

const drives = (id: number, key: KeyFacts, since: number): boolean => key.sends.some((send) => send.call?.id === id && send.at < since);

/** How long after `since`, or after its context thawed, the driver last read its record: before each later attempt, and before it asks a hook. */
const lookedAt = ({ hook, thawedAt }: Send, since: number, now: number): number =>
  (now - hook.answeredAt > LATE_MS_MAX ? now : hook.askedAt) - Math.max(since, thawedAt);

/** Whether the driver went on although it read its record after `since`. */
export const wentOn = (send: Send, since: number, now: number): boolean => lookedAt(send, since, now) > LATE_MS_MAX;

/** After a log-out no driver goes on. A call that takes the operation up later begins with a first attempt of its own. */
export function afterLogOut(send: Send, ledger: Ledger): void {
  const { key } = send;
  const first = key.sends.filter((one) => one.call === send.call && one.attempt === 1).at(-1);
  // A guest's call and one of the user may be under way under one key in one page. Then the send may be that of the one that began after the log-out.
  const isLater = ({ context, begunAt, told }: Call): boolean => context === send.context && begunAt > key.clearedAt && !(told && told.at < ledger.now());
  if (key.op.calls.some(isLater)) return;
  if (first && first.at < key.clearedAt && wentOn(send, key.clearedAt, ledger.now()))
    ledger.violate(NAME, key.op, `${key.key} was sent ${ledger.now() - key.clearedAt} ms after a log-out by the call that had sent it before`);
}

/** What callers of this page have heard to be done is not lost, whatever its record looks like: an equal call is another effect. */
const heardDone = ({ sends }: KeyFacts, { context, begunAt }: Call): boolean =>
  sends.some(({ call }) => call?.context === context && call.told?.outcome?.effect === 'done' && call.told.at < begunAt);

/**
 * No unnamed call may send what equals a damaged record under another key until the server has forgotten the damaged record's key. On a
 * server, equal unnamed calls are different operations.
 */
export function besideDamaged({ key, call, context, wall }: Send, ledger: Ledger): void {
  const { op } = key;
  if (!op.unnamed || !call || context.startsWith('process')) return;
  // A `resume` makes no key: the press that made it counts, which may have looked before the record was damaged, and died before it sent anything.
  const press = (call.verb === 'resume' && op.calls.filter((one) => one.context === key.bornIn && one.begunAt <= key.bornAt).at(-1)) || call;
  const lookedAt = Math.min(press.begunAt, key.bornAt);
  const damaged = (one: KeyFacts): boolean =>
    one !== key && one.user === key.user && one.flippedAt < lookedAt && wall < one.windowEndsAt && !heardDone(one, call);
  const other = [...op.keys.values()].find(damaged);
  if (other) ledger.violate(NAME, op, `${key.key} was sent beside ${other.key}, whose record is damaged`);
}

/**
 * An unnamed call goes on with an equal one that ended as unknown before it began, also if that was a guest's and `move` brought it here. On a server,
 * equal unnamed calls are different operations.
 */
export function besideLost({ key, call, context, thawedAt, wall }: Send, ledger: Ledger): void {
  const { op } = key;
  if (!op.unnamed || !call || context.startsWith('process') || key.bornAt < call.begunAt || thawedAt > call.begunAt) return;
  // Of two presses at once, one goes on with the lost call, and the other, which has made no key, is another effect. Beside a `resume`, a press goes on with it.
  const madeKey = (one: Call): boolean => [...op.keys.values()].some(({ bornAt, sends }) => bornAt >= call.begunAt && sends.some((send) => send.call === one));
  const beside = (one: Call): boolean => one !== call && one.verb !== 'resume' && (one.told?.at ?? one.diedAt) >= call.begunAt && !madeKey(one);
  if (key.sends.length > 1 || op.calls.some(beside)) return;
  // Another context may have heard of the end before its last write was done. A `resume` that was told of no end before only goes on with what is lost.
  const isLost = ({ told, diedAt, verb, context: at }: Call): boolean =>
    verb === 'resume' || (told ? told.outcome?.effect === 'unknown' && told.at + (at === context ? 0 : LATE_MS_MAX) < call.begunAt : diedAt < call.begunAt);
  // If a `resume` ended it after the call had begun, that end is the call's, too.
  const isOpen = ({ pendingInStore, end, endedAt, sends }: KeyFacts): boolean =>
    pendingInStore || (end === 'settled' && endedAt > call.begunAt + LATE_MS_MAX && sends.at(-1)?.call?.verb === 'resume');
  const lost = [...op.keys.values()].find(
    (one) =>
      one !== key &&
      one.user === key.user &&
      isOpen(one) &&
      !heardDone(one, call) &&
      !one.damaged &&
      one.sends.length > 0 &&
      one.sends.every((send) => send.call && isLost(send.call) && !ledger.isFrozen(send.context) && wall < one.windowEndsAt),
  );
  if (lost) ledger.violate(NAME, op, `call ${call.id} sent ${key.key}, although ${lost.key} of an equal call had ended as unknown before`);
}

/** A page that has left an operation open goes on with its key, also if the storage was emptied. */
export function besideLeftOpen({ key, call, context }: Send, ledger: Ledger): void {
  const { op, epoch, evictedBefore } = key;
  if (op.unnamed || !key.random || key.sends.length > 1 || key.bornIn !== context) return;
  // What had settled for the guest does not count for the user who has logged in.
  if ([...op.keys.values()].some((one) => one.user !== op.user && one.end === 'settled' && key.user === op.user)) return;
  const open = [...op.keys.values()].find((one) => evictedBefore.has(one.key) && one.random && one.epoch === epoch && !one.none && !wasUnknown(one, key));
  if (open) ledger.violate(NAME, op, `call ${call?.id} sent ${key.key}, although its page had left ${open.key} open`);
}

/** A call that waited while another context drove the same payload is told how that ended, and sends nothing itself. */
export function afterWaiting(send: Send, ledger: Ledger): void {
  const { key, call, context, payload, thawedAt } = send;
  const { op } = key;
  if (op.unnamed || key.sends.length > 1 || !call || call.verb === 'resume') return;
  if (key.bornIn !== context || key.bornAt < call.begunAt || thawedAt > call.begunAt) return;
  // The call waited for a `resume` or an earlier call of its own context, and read the store only after that one was told its outcome.
  const behind = ({ verb, begunAt }: Call): boolean => verb === 'resume' || begunAt < call.begunAt;
  if (op.calls.some((one) => one.context === context && behind(one) && one.told && one.told.at > call.begunAt)) return;
  const other = [...op.keys.values()].filter((one) => one !== key).at(-1);
  if (!other || inMemoryOnly(other, ledger) || other.endedIn === context || (other.end !== 'settled' && other.end !== 'rejected')) return;
  // Where the store is slow, the call may have looked for the first time when that was over.
  if (!ledger.quick && (other.seen.get(context) ?? 0) < call.begunAt) return;
  const driven = other.sends.some((one) => one.at < call.begunAt && one.context !== context);
  const same = other.sends.every((one) => one.payload === payload);
  // A key of the app's that is used up without an effect is followed by the next one, whichever call comes first.
  if (!key.random && other.end === 'rejected') return;
  if (driven && same && other.endedAt > call.begunAt + LATE_MS_MAX)
    ledger.violate(NAME, op, `call ${call.id} waited while ${other.key} was driven, which ended as ${other.end}, and sent ${key.key}`);
}
