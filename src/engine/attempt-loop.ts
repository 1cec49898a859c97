/** Drives one record: makes an attempt, reads the answer, decides, waits, and repeats that until the operation ends or the call must stop. */

import { marked } from '../core/begin.js';
import type { UnknownReason } from '../core/codes.js';
import { cleanlyRefused, decide, type Situation, type Stop, stop } from '../core/decide.js';
import type { WaitReason } from '../core/event.js';
import { unknown, unsent } from '../core/outcome.js';
import { hasOthers } from '../core/payloads.js';
import { readRecord } from '../core/record.js';
import { outOfBudget } from './budget.js';
import type { AttemptResult, Driver, Payload } from './client.js';
import { renew } from './lease.js';
import { isOvertaken } from './nested.js';
import { emit, publish, tellWait } from './observe.js';
import { reasonToStop, takenOver } from './reason-to-stop.js';
import { commit, readStored, storeTimeOf } from './record-access.js';
import type { Stopped } from './stopped.js';
import { limit, sleptSince, waitsUntil } from './wait.js';

/** For this long after a call gave up on work in progress (`spentAt`), the next calls do not wait for that work. */
const SPENT_MS = 60_000;

function isKeyed(drive: Driver): boolean {
  return drive.job.payload?.keyed?.(drive.job, drive.record.carrier) ?? true;
}

/** Makes attempts until the decision is something other than to wait. */
export async function makeAttempts(drive: Driver, payload: Payload): Promise<Stopped> {
  if (drive.record.link) return { decision: { do: 'poll' } };
  // A server that knows no keys must not get the request twice: only `reconcile` can say more.
  if (drive.start.resumed && !isKeyed(drive)) return { decision: stop('no-answer', true) };
  const { client, settings, deadline, seen } = drive.job;
  const { clock, randomness } = client.platform;
  const { retryAt = 0, spentAt = -Infinity } = drive.record;
  const begun = clock.now();
  // Both were stored by the store's clock, because the machine that did may have another one.
  const at = retryAt - seen.aheadMs;
  /** When this call stops waiting for work in progress, ms since 1970; 0 until it first finds some. */
  let waitsEnd = begun + seen.aheadMs - spentAt < SPENT_MS ? begun : 0;
  if (at > begun && at < deadline) await pause(drive, at - begun, 'retry-after');
  // Ignore the result: the device may be wrong about being offline, so the first attempt is made in any case.
  await awaitNetwork(drive);
  // If the server asked to wait beyond this call's time, make a single attempt.
  let triesMax = at >= deadline ? 1 : settings.limits.attempts;
  // Attempts that find work in progress (`waits`) do not count against `limits.attempts`; all others do (`tries`).
  let tries = 0;
  let waits = 0;
  for (;;) {
    const stopped = (tries && !drive.last && (await awaitNetwork(drive))) || (await checkBeforeAttempt(drive));
    const sent = stopped || (await attempt(drive, payload));
    if ('decision' in sent) return sent;
    const { reading, cause } = sent;
    if (reading.kind === 'in-progress') waits++;
    else tries++;
    const now = clock.now();
    if (outOfBudget(drive.job, reading.kind, tries, drive.start.resumed)) triesMax = tries;
    if (waits) waitsEnd ||= waitsUntil(drive.job, now);
    const decision = decide(reading, {
      ...knownTo(drive),
      now,
      refusedForMs: drive.refusals.note(sent),
      answered: !!drive.last,
      tries,
      triesMax,
      waits,
      waitsEnd,
      retryAfterMs: sent.retryAfterMs,
      random: randomness.random(),
    });
    drive.ambiguous ||= reading.ambiguous;
    // A server that holds another payload under this key has not executed this one. Of work that it accepted, the poll will tell.
    drive.sameAmbiguous ||= reading.ambiguous && !/^(accepted|mismatch)$/.test(reading.kind);
    if (decision.do !== 'wait') return { decision, result: drive.last, cause };
    await pause(drive, decision.ms, decision.why);
  }
}

/** Waits, and tells screens and logs. */
export async function pause(drive: Driver, ms: number, why: WaitReason): Promise<void> {
  const { client, settings, stop } = drive.job;
  const { clock, connectivity } = client.platform;
  const until = clock.now() + ms;
  drive.waited = true;
  tellWait(drive.job, drive.record.key, drive.attempts, until, why, drive.last);
  // Coming online cuts short only these two kinds of wait, never one that the server asked for. `ms` may be hours if the clock was set back.
  await limit(clock, Math.min(ms, settings.limits.totalMs), [stop, client.closing], why === 'backoff' || why === 'offline' ? connectivity : undefined).over;
}

/** Waits while the device is offline, so that an outage costs no attempts. Ends the call after `offlineWaitMs`, so that the user is told within seconds. */
export async function awaitNetwork(drive: Driver): Promise<Stopped | undefined> {
  const { client, settings, deadline } = drive.job;
  const { clock, connectivity } = client.platform;
  const { offlineWaitMs } = settings.limits;
  const since = drive.offlineSince ?? clock.now();
  const end = since + offlineWaitMs;
  // Never more than `offlineWaitMs`: if the clock was set back by hours, the call would otherwise wait for hours.
  const ms = Math.min(offlineWaitMs, end - clock.now(), deadline - clock.now());
  if (ms > 0 && connectivity.online() === false) await pause(drive, ms, 'offline');
  // When an outage has ended, the next one gets the full time.
  drive.offlineSince = connectivity.online() === false ? since : undefined;
  return drive.offlineSince !== undefined && clock.now() >= end ? stopWith(drive, 'offline') : undefined;
}

/** What is known of this key and its server, apart from the last answer. */
function knownTo(drive: Driver) {
  const { job, start } = drive;
  return {
    ...drive,
    ...drive.refusals.known(),
    deadline: job.deadline,
    // Until an attempt of this drive may have had the effect, a replay may be the answer to an earlier payload that was refused.
    changed: drive.ambiguous ? start.changed : hasOthers(start),
    reused: start.reused,
    repeat: job.settings.repeat,
    answersMismatch: job.settings.dialect.answersMismatch,
    keyed: isKeyed(drive),
    backoff: job.settings.retry,
  } satisfies Partial<Situation>;
}

/** Checks everything that may have changed since the last attempt. Like the other two checks, it gives how the drive stops; `undefined` if it goes on. */
export async function checkBeforeAttempt(drive: Driver): Promise<Stopped | undefined> {
  const { job, record } = drive;
  // An own key, such as a child key, may have been sent before, so the outcome is unknown. But this call has sent nothing, and the next run of the function
  // may have another key: put back what this call found.
  const undo = async () => drive.ambiguous && drive.start.inserted && !drive.attempts && commit(job, record, () => record.previous ?? null);
  if (await isOvertaken(job, undo)) return stopWith(drive, 'aborted');
  const stopped = checkQuickly(drive);
  // While the call waited or the device slept, the lease may have run out, or somebody may have logged out: another driver may own the record.
  const mustLook = drive.attempts || drive.waited || sleptSince(job.client, record.touchedAt - job.seen.aheadMs);
  // Before the app's `reconcile` is asked, look whether another driver owns the record by now.
  if (stopped) return (mustLook && (stopped.decision as Partial<Stop>).ask && (await checkOwner(drive))) || stopped;
  if (record.ambiguous) return mustLook ? checkOwner(drive) : undefined;
  // The record was stored clean, so mark it ambiguous before its first attempt leaves. Check again after that: the device may have slept meanwhile.
  const next = marked(record, job.settings.limits.keyWindowMs, storeTimeOf(job));
  if (!(await commit(job, record, () => next, job.name.length ? 'strict' : 'relaxed'))) return stopWith(drive, 'store');
  drive.record = next;
  job.seen.record = next;
  return checkBeforeAttempt(drive);
}

/** The checks that need no I/O. They are repeated right before the attempt leaves, because hooks and stores take time. */
export function checkQuickly(drive: Driver): Stopped | undefined {
  const maybeSent = drive.ambiguous && drive.record.ambiguous;
  const reason = reasonToStop(drive.job, drive.record, maybeSent || drive.start.reused);
  // If all that was sent under the key was refused, go on under a new key, as the next call would.
  if (reason === 'key-expired') return { decision: maybeSent ? stop(reason, true) : { do: 'anew' } };
  return reason && stopWith(drive, reason);
}

/** How the drive stops for this reason. The outcome is "no effect" if nothing was sent or if all that was sent was refused, otherwise unknown. */
function stopWith(drive: Driver, reason: UnknownReason, cause?: unknown): Stopped {
  // For example after a 429: the call was waiting for its next attempt, and its last one was refused in front of the application.
  if (!drive.ambiguous && drive.last) return { decision: cleanlyRefused('in-front', knownTo(drive)), result: drive.last };
  const unsentFor = reason === 'aborted' || reason === 'offline' ? reason : reason === 'store' ? 'store-write' : 'unreachable';
  return { decision: { do: 'stop', ending: drive.ambiguous ? unknown(reason) : unsent(unsentFor), ask: false }, cause };
}

/** Checks whether the record still belongs to this driver: a log-out, `forget` or another driver may have taken it. */
export async function checkOwner(drive: Driver, mayRepeat = true): Promise<Stopped | undefined> {
  const askedAt = drive.job.client.platform.clock.now();
  try {
    // Renew the lease, which may have run out while the device slept. Otherwise the app could `settle` between this look and the attempt.
    const stored = await (drive.record.lease ? renew(drive) : readStored(drive.job));
    // If the device slept while the store answered, the answer may be outdated: look again, but only once, because the store may merely be slow.
    return mayRepeat && sleptSince(drive.job.client, askedAt) ? await checkOwner(drive, false) : takenOver(readRecord(stored), drive.record);
  } catch (cause) {
    return stopWith(drive, 'store', cause);
  }
}

/** Makes one attempt, if nothing stops the drive at the last moment. */
export async function attempt(drive: Driver, payload: Payload): Promise<AttemptResult | Stopped> {
  const { job, ambiguous, start, record } = drive;
  const { client, settings, operationKey } = job;
  const number = drive.attempts + 1;
  let stopped: Stopped | undefined;
  const look = async (): Promise<boolean> => {
    stopped = await checkOwner(drive);
    return !stopped;
  };
  const leaves = (): boolean => {
    stopped = checkQuickly(drive);
    if (stopped) return false;
    drive.refusals.leaves();
    drive.attempts = number;
    publish(client, operationKey, { phase: 'sending', attempt: number, maxAttempts: settings.limits.attempts });
    emit(job, record.key, { type: 'attempt', attempt: number });
    return true;
  };
  const ms = Math.min(settings.limits.attemptMs, job.deadline - client.platform.clock.now());
  const { key, carrier, firstSentAt = record.createdAt } = record;
  const otherPayloads = start.changed || start.otherBytes || record.refusedBefore || !record.random;
  const sent = await payload.send({ job, key, carrier, firstSentAt, number, ambiguous, resumed: start.resumed, otherPayloads, ms, stillMine: look, leaves });
  // A look at the record may also fail after the attempt has left. Then the call must not end as if nothing had been sent.
  if (stopped && sent.reading.kind === 'not-sent') return stopped;
  if (sent.result || sent.reading.kind !== 'not-sent') drive.last = sent.result;
  drive.reached ||= sent.reached;
  drive.mayResend ||= sent.mayResend;
  return sent;
}
