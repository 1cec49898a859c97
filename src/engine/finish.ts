/** Finishes a drive: stores how it ended, before its callers hear of it. */

import type { OnceErrorCode, UnknownReason } from '../core/codes.js';
import { refusedAgain, type Settle, type Stop, stop } from '../core/decide.js';
import { type Ending, type Facts, fresh, rejected, replayed, unknown } from '../core/outcome.js';
import { payloadsOf } from '../core/payloads.js';
import { seal } from '../core/record.js';
import { OnceError } from '../errors.js';
import { isSamePerson, keyedOperationOf } from './address.js';
import { attempt, checkBeforeAttempt } from './attempt-loop.js';
import type { Driver } from './client.js';
import { answersOf, endRecord, remember } from './end-record.js';
import { CODES, plainCodeOf, withFacts } from './failure.js';
import { ANEW, type Ended, type Finished } from './in-flight.js';
import { commit, storeTimeOf } from './record-access.js';
import { endIn } from './remembered.js';
import type { Polled, Result } from './result.js';
import type { Stopped } from './stopped.js';

/** Carries out the decision that a drive stopped with. */
export async function finish(drive: Driver, stopped: Stopped): Promise<Finished> {
  const { decision, ended } = stopped;
  const { parts } = drive.job.client;
  if (ended) {
    // Another context ended the operation. If it sent another payload, and the name may stand for another effect, the present one must still be sent.
    const { resumeOnly, fingerprint, settings } = drive.job;
    if (settings.repeat !== 'never' && !resumeOnly && !ended.payloads.includes(fingerprint)) return ANEW;
    const { ending, result } = endIn(drive.job, ended);
    // The operation was sent by the context that ended it, if not by this one.
    const { firstSentAt } = ended;
    return tell(drive, { ...ending, ...(firstSentAt != null && { firstSentAt, sent: 'yes' }) }, result, !result && 'ERR_ONCE_ALREADY_SETTLED');
  }
  switch (decision.do) {
    case 'settle': {
      // The 2xx proves an effect; `reconcile` is asked which payload had it.
      const answer = decision.ask && (await parts.whose?.(drive, stopped.result));
      if (answer) return settle(drive, replayed('reconcile'), answer);
      return settle(drive, decision.ending, stopped.result, { ...decision, cause: stopped.cause });
    }
    case 'anew':
      return anew(drive, stopped.result);
    case 'done-elsewhere':
      return (await parts.ask?.(drive, 'done-elsewhere', stopped.result)) ?? doneElsewhere(drive, stopped.result, decision.resource);
    case 'probe':
      return probe(drive, stopped.result);
    case 'poll':
      return (await parts.poll?.(drive, stopped.result)) ?? endUnsettled(drive, stop('in-progress', true), stopped);
    default:
      return endUnsettled(drive, decision, stopped);
  }
}

export async function settle(
  drive: Driver,
  ending: Ending,
  result: Result | undefined,
  how: Pick<Settle, 'sticky' | 'keyInUse' | 'earlier' | 'marked'> & { readonly payloads?: readonly string[] | undefined; readonly cause?: unknown } = {},
): Promise<Finished> {
  const { job, record } = drive;
  const { sticky, keyInUse, earlier, cause, payloads = payloadsOf(record, ending, how, drive.start) } = how;
  const presentIsDue = earlier && job.settings.repeat !== 'never';
  // A resume can't go on under a new key. Leave the operation open: no other record tells that the present payload is still to be sent.
  if (presentIsDue && job.resumeOnly) return endUnsettled(drive, stop('mismatch', false));
  const ownResult = !earlier && ending.effect === 'done' ? result : undefined;
  const answer = ownResult && answersOf(job)?.answerToStore(job, ownResult);
  const stored = await endRecord(job, record, ending, { sticky, keyInUse, refusal: drive.refusals.last(), payloads, answer });
  // A 2xx proves the effect, whoever owns the record now. A refusal counts only if its record could be retired.
  if (!stored && (presentIsDue || ending.effect !== 'done')) return tell(drive, unknown('store'), result, undefined, { cause });
  // After a log-out, the answer goes to the caller only.
  if (stored && ownResult) remember(job, record, ownResult);
  // An earlier payload took effect. If the name may stand for another effect (`repeat`), go on with the present one.
  if (presentIsDue) return ANEW;
  return tell(drive, ending, result, earlier && 'ERR_ONCE_ALREADY_SETTLED', { cause });
}

/** The server repeats its refusal of an earlier call for this key: retire the record, and go on under a new key. */
async function anew(drive: Driver, result: Result | undefined): Promise<Finished> {
  const { job, record } = drive;
  const isNamed = job.name.length > 0;
  // The refused operation may be one whose record is lost. Then a later one of this name, under the next key, may be done.
  const ending = isNamed && record.madeAgain ? unknown('refused-after-ambiguity') : rejected(true);
  if (!(await endRecord(job, record, ending, { sticky: true }))) return tell(drive, unknown('store'), result);
  // An unnamed operation is identified by its key, so it can't get another one.
  return job.resumeOnly || !isNamed ? tell(drive, ending, result) : { anew: true, refused: tell(drive, rejected(true), result) };
}

async function doneElsewhere(drive: Driver, result: Result | undefined, resource: string | undefined): Promise<Ended> {
  const ending = replayed('elsewhere');
  // No 2xx proves the effect. If this end can't be stored, the next call sends again, so the caller is not told "done".
  if (!(await endRecord(drive.job, drive.record, ending))) return tell(drive, unknown('store'), result);
  return tell(drive, ending, result, 'ERR_ONCE_ALREADY_DONE', { resource });
}

/** What the callers get: the last answer, or an error if that answer would contradict the outcome. */
export function tell(
  drive: Driver,
  ending: Ending & Partial<Facts>,
  result: Result | undefined,
  code?: OnceErrorCode | false,
  more: { cause?: unknown; resource?: string | undefined } = {},
): Ended {
  const { job, record, start, attempts, reached, ambiguous, storedIn } = drive;
  const { resumed, reused } = start;
  const outcome = withFacts(job, {
    key: record.key,
    attempts,
    firstSentAt: attempts || resumed ? record.firstSentAt : undefined,
    sent: reached || reused ? 'yes' : ambiguous ? 'maybe' : 'no',
    resumed,
    storedIn,
    ...ending,
  });
  const ended = { outcome, record, driven: true };
  const honest = result && (ending.effect !== 'unknown' || !result.ok);
  if (honest && !code) return { ...ended, result };
  // The function given to `run` threw, and `verdict` called that a refusal: callers get the same error.
  if (ending.type === 'rejected' && more.cause !== undefined) return { ...ended, fail: () => more.cause };
  return { ...ended, result, fail: (own) => new OnceError(code || plainCodeOf(ending), own, { ...more, response: result?.response }) };
}

/** Ends a call whose operation does not settle, or of which nothing was sent. */
async function endUnsettled(drive: Driver, decision: Omit<Stop, 'do'>, { result, cause, lost }: Omit<Stopped, 'decision'> = {}): Promise<Finished> {
  const { job, record } = drive;
  if (decision.ending.type === 'unsent') {
    // A record that another call inserted must not be removed.
    if (decision.ending.reason === 'aborted' && !drive.start.inserted) return endUnsettled(drive, stop('aborted', false));
    // If this is a background call, or if the resumed operation's user has left, nobody is here to press again. So put the record back as it was
    // found, still clean, for a later resume to go on with.
    const { agreed } = job;
    const left = !isSamePerson(job);
    const stays = agreed || (job.resumeOnly && left);
    const stored = await commit(job, record, () => (stays ? { ...drive.start.record, lease: undefined } : (record.previous ?? null)));
    // On a server, `claim` does not ask who is here: the user may have left before it found no record, because `move` had taken one that was sent.
    const moved = left && job.client.platform.server && drive.start.inserted;
    const ending = stored && !stays && !moved ? decision.ending : unknown(agreed ? 'no-answer' : stored ? 'identity' : 'store');
    return tell(drive, ending, undefined, undefined, { cause });
  }
  if (decision.ask) {
    const reconciled = await job.client.parts.ask?.(drive, decision.ending.reason, result, cause);
    if (reconciled) return reconciled;
  }
  // If another user has logged in by now, that is the reason to give.
  const ending = isSamePerson(job) ? decision.ending : { ...decision.ending, reason: 'identity' as const };
  const { reason, retryAt } = ending;
  // A call that only asked `reconcile` has nothing to store: it does not even know how the last attempt of another context ended.
  if (!drive.start.asks) await storeStop(drive, reason, retryAt, decision.ending.reason);
  const code = lost ? 'ERR_ONCE_CLAIM_LOST' : CODES[reason];
  const end = tell(drive, ending, result, code, { cause });
  // If another driver has taken over, screens must read what is stored by now: this driver's record is outdated.
  return lost ? { ...end, record: undefined } : end;
}

/** Stores what the next call must know after this drive stopped without settling the operation. `met`: the reason, whoever is logged in by now. */
async function storeStop(drive: Driver, reason: UnknownReason, at: number | undefined, met: UnknownReason): Promise<void> {
  const { job, record, start } = drive;
  // Do not list a payload that never left: the next call would take the replayed answer to an earlier payload for the answer to its own.
  // Nor a change that met only refusals, of itself or of another payload: it must still be sent. A stored request stays listed, as it is what a resume
  // sends; and a record that was found clean is not put back, as it is not clean any more once an attempt has left.
  const unmet = job.settings.repeat === 'if-changed' && !record.request && start.found?.ambiguous;
  const spent = met === 'in-progress';
  const withoutPresent = drive.sameAmbiguous || (drive.attempts && !unmet) ? undefined : start.found;
  const refusals = drive.refusals.toStore(reason);
  // For these two reasons, `retryAt` is when a repeated refusal would become a proof. The next call need not wait for that, so do not store it.
  const retryAt = /^(refused-after-ambiguity|mismatch)$/.test(reason) ? undefined : at;
  if (!(withoutPresent || retryAt || spent || record.lease || start.found?.lease || refusals)) return;
  const storeNow = storeTimeOf(job);
  // Give the lease back, unless a function of `run` goes on after its call. Until the last attempt of an earlier driver has ended, the lease that it left
  // must keep the app from settling.
  // While the record has the lease of a move, as it may where calls take no leases, `commit` stores nothing.
  const next = seal({
    ...(withoutPresent ?? record),
    ...refusals,
    lease: job.client.registry.outlives?.(drive) ?? start.found?.lease,
    retryAt: retryAt && retryAt + job.seen.aheadMs,
    spentAt: spent ? storeNow : undefined,
    touchedAt: storeNow,
  });
  if (await commit(job, record, () => next)) drive.record = next;
}

/**
 * Settles the operation when a poll finds that its work has ended; `undefined` while the work goes on. `marked`: the 202 had the replay
 * marker. `changed`: it may be the answer to an earlier payload. `ofEarlier`: it is. `lost`: an attempt before the 202 may have had the effect.
 */
export function settlePolled(
  drive: Driver,
  { state, result }: Polled,
  {
    marked,
    changed,
    ofEarlier,
    lost,
  }: { readonly marked: boolean; readonly changed: boolean; readonly ofEarlier: boolean; readonly lost: boolean | undefined },
): Promise<Finished> | undefined {
  const { sentBefore, record } = drive.start;
  // An earlier call stored the link, and the present payload was never sent: the work behind the link is that of an earlier payload.
  const earlier = ofEarlier || (changed && !!record.link && !sentBefore);
  const doubtful = (lost && !marked) || (changed && (!!record.link || !drive.job.settings.dialect.answersMismatch));
  // The work of an earlier payload, or of an operation whose record is lost, failed and used up the key. That is not an answer to this call.
  if (state === 'failed' && (earlier || drive.record.madeAgain)) return anew(drive, result);
  // The record of a link lists the payloads that were sent before it came.
  const payloads = earlier && record.link ? record.payloads : undefined;
  const ending = earlier || (marked && !changed) ? replayed('server') : fresh(!doubtful, changed);
  if (state === 'done') return settle(drive, ending, result, { earlier, marked, payloads });
  return state === 'failed' ? settle(drive, rejected(), result, { sticky: true }) : undefined;
}

/** The server holds another payload under this key. Sends the earlier payloads whose bytes are at hand once more, to learn how they ended. */
async function probe(drive: Driver, result: Result | undefined): Promise<Finished> {
  const { job, record, start } = drive;
  const stored = job.client.parts.requests?.earlier(drive) ?? [];
  // In the background, only the payload that the customer agreed to may be sent.
  const atHand = new Map(job.agreed ? [] : [...stored, ...(job.client.registry.payloads.get(keyedOperationOf(job.operationKey, record.key)) ?? [])]);
  let retryAt: number | undefined;
  for (const earlier of atHand) {
    const [fingerprint, payload] = earlier;
    // Skip the present payload, and those that the record does not list: they were refused, and their callers were told.
    if (fingerprint === job.fingerprint || !record.payloads.includes(fingerprint)) continue;
    const probed = (await checkBeforeAttempt(drive)) ?? (await attempt(drive, payload));
    if ('decision' in probed) {
      // Another context has ended the operation, or goes on with it.
      if (probed.lost) return finish(drive, probed);
      continue;
    }
    const { reading, result: found } = probed;
    if (reading.kind === 'replayed' || reading.kind === 'fresh') return settle(drive, replayed('server'), found, { earlier: true, payloads: [fingerprint] });
    const polled = reading.kind === 'accepted' && (await job.client.parts.poll?.(drive, found, earlier));
    if (polled) return polled;
    const proof = refusedAgain(reading, job.client.platform.clock.now(), drive.refusals.note(probed));
    if (proof === 'proven') return anew(drive, found);
    retryAt ??= proof;
  }
  return endUnsettled(drive, stop(start.otherBytes ? 'bytes' : 'mismatch', true, retryAt), { result });
}
