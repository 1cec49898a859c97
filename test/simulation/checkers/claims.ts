/** Who may do what with a record while another one drives it. */
import { type Call, type Commit, does, type KeyFacts, type Ledger, type Send } from '../facts.js';

export const NAME = 'one-key';

/** From the last look at the record to the wire, or to the hook. */
export const LATE_MS_MAX = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `forget` and `settle` are refused while somebody drives the operation, and only a log-out and a log-in come over a lease. */
export function endedByAnother({ op, before, after, context, byHand, why, memory, storeNow }: Commit, ledger: Ledger): void {
  if (why !== 'written' || memory || before?.state !== 'pending') return;
  const key = op.keys.get(before.key);
  if (!key || (after?.key === before.key && after.state === 'pending')) return;
  // Whatever began to drive it before the deed began holds its claim; what came later waited for the deed.
  const driving = (since: number) =>
    op.calls.find((call) => call.context === context && call.verb !== 'resume' && !call.told && !call.dead && drives(call.id, key, since));
  for (const { what, since } of byHand) {
    const driver = what === 'forget' || what === 'settle' || what === 'lie' ? driving(since) : undefined;
    if (driver) ledger.violate(NAME, op, `${what} ended ${key.key} while call ${driver.id} of the same context drove it`);
  }
  const { held } = key;
  const comesOver = does(byHand, 'clear', 'clear-forget', 'move');
  // A lease that lasts longer than any was taken by a clock that was wrong.
  const holds = held !== undefined && held.until > storeNow && held.until < storeNow + DAY_MS;
  if (ledger.exact && holds && held.context && held.context !== context && !comesOver)
    ledger.violate(NAME, op, `${key.key} was ended by ${context} while ${held.context} held its lease for ${held.until - storeNow} ms more`);
}

const drives = (id: number, key: KeyFacts, since: number): boolean => key.sends.some((send) => send.call?.id === id && send.at < since);

/** When its context last looked at its record, or could have. */
const lookedAt = ({ hook, thawedAt }: Send, since: number, now: number): number =>
  (now - hook.answeredAt > LATE_MS_MAX ? now : hook.askedAt) - Math.max(since, thawedAt);

/** It reads its record again before every attempt after the first, and before it asks a hook. */
export const wentOn = (send: Send, since: number, now: number): boolean => send.attempt > 1 && lookedAt(send, since, now) > LATE_MS_MAX;

/** After a log-out no driver goes on; who takes it up later begins anew. */
export function afterLogOut(send: Send, ledger: Ledger): void {
  const { key } = send;
  const first = key.sends.filter((one) => one.call === send.call && one.attempt === 1).at(-1);
  if (first && !key.wasInMemory && first.at < key.clearedAt && wentOn(send, key.clearedAt, ledger.now()))
    ledger.violate(NAME, key.op, `${key.key} was sent ${ledger.now() - key.clearedAt} ms after a log-out by the call that had sent it before`);
}

/** Nobody sends the equal of a damaged one under another key until the server has forgotten its key; on a server, equal calls are different ones. */
export function besideDamaged({ key, call, context, wall }: Send, ledger: Ledger): void {
  const { op } = key;
  if (!op.unnamed || !call || context.startsWith('process')) return;
  const damaged = (one: KeyFacts): boolean =>
    one !== key && one.user === key.user && one.flippedAt < Math.min(call.begunAt, key.bornAt) && wall < one.windowEndsAt - HOUR_MS;
  const other = [...op.keys.values()].find(damaged);
  if (other) ledger.violate(NAME, op, `${key.key} was sent beside ${other.key}, whose record is damaged`);
}

/** Who waited for another one's end of the very same is told it, and sends nothing of its own. */
export function afterWaiting(send: Send, ledger: Ledger): void {
  const { key, call, context, payload, thawedAt } = send;
  const { op } = key;
  if (!ledger.quick || !key.random || op.unnamed || key.sends.length > 1 || !call || call.verb === 'resume') return;
  if (key.bornIn !== context || key.bornAt < call.begunAt || thawedAt > call.begunAt) return;
  // It waited for a `resume` of its own context, or for an earlier call there, and looked at the store only when that one was told.
  const behind = ({ verb, begunAt }: Call): boolean => verb === 'resume' || begunAt < call.begunAt;
  if (op.calls.some((one) => one.context === context && behind(one) && one.told && one.told.at > call.begunAt)) return;
  const other = [...op.keys.values()].filter((one) => one !== key).at(-1);
  if (!other || other.swept || other.byHand || other.endedIn === context || (other.end !== 'settled' && other.end !== 'rejected')) return;
  const driven = other.sends.some((one) => one.at < call.begunAt && one.context !== context);
  const same = !other.edited && other.sends.every((one) => one.payload === payload && one.call !== call);
  if (driven && same && other.endedAt > call.begunAt + LATE_MS_MAX)
    ledger.violate(NAME, op, `call ${call.id} waited while ${other.key} was driven, which ended as ${other.end}, and sent ${key.key}`);
}
