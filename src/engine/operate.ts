/** One call: joins an operation in flight, or claims the name and drives it, in rounds: begin, attempts, finish. */
import { endedBefore } from '../core/begin.js';
import type { Begun, Look } from '../core/claimant.js';
import { stop } from '../core/decide.js';
import { typeOf } from '../core/name.js';
import { type Outcome, rejected, unknown } from '../core/outcome.js';
import { isOnceError, OnceError } from '../errors.js';
import { UnreplayableBody } from '../http/request.js';
import { wrong } from '../texts/full.js';
import { idsOf, keyedOperationOf } from './address.js';
import { makeAttempts } from './attempt-loop.js';
import { claim, readyStore, takeLock, tryLock } from './claim.js';
import type { Call, Driver, OperationRun, Payload, PreparedCall } from './client.js';
import { contextOfCall } from './context.js';
import { busyError, failed, failure, withFacts } from './failure.js';
import { finish } from './finish.js';
import { type Ended, type Finished, InFlightOperation } from './in-flight.js';
import { keepLastKnown, knownDone } from './last-known.js';
import { awaitLease, holdingLease } from './lease.js';
import { counted, isWithin, unheard } from './nested.js';
import { announceChange, emit, guarded, publish, readAnew } from './observe.js';
import { storedIn, storeForOperation } from './record-access.js';
import { refusalsOf } from './refusals.js';
import { keepRecent, logOutsOf, OPERATIONS_MAX } from './registry.js';
import { rememberedResult } from './remembered.js';
import type { Start } from './stopped.js';
import { sweepNowAndThen } from './sweep.js';
import { bodyError, joinInTime, leftBefore, notedReason, type Unbegun } from './unbegun.js';
import { inTime, isAbandoned, THAW_MS, unlessLate } from './wait.js';

/** The most keys that one call tries. */
const ROUNDS_MAX = 3;
/** How many payloads an operation keeps in this realm's memory. */
const PAYLOADS_MAX = 8;

/**
 * Makes the call: joins the operation in flight, or claims the name and drives it. Resolves with the answer, or with the value of a function given to
 * `run`. `call`: the feature that wraps each call, if there is one. It gets a function that makes the call without it.
 */
export async function operate(given: Call, { call } = given.client.parts): Promise<unknown> {
  const { settings, address, signal, request } = given;
  // Check the signal before the claim: if a wrong signal threw afterwards, the operation would go on without its caller.
  if (signal != null) {
    if (!signal.addEventListener) throw new TypeError(wrong('signal', 'signal', typeOf(signal)));
    given.client.platform.shares?.(signal);
  }
  if (call) return call(given, (own) => operate(own, {}));
  const client = contextOfCall(given.client);
  const { clock } = client.platform;
  const deadline = (given.startedAt ?? clock.now()) + settings.limits.totalMs;
  const { flights } = client.registry;
  const operation = { ...address, client, settings, deadline, logOuts: given.logOuts ?? logOutsOf(client, address.namespace) };
  const { onOutcome: hook } = settings;
  const onOutcome = counted(hook && ((outcome: Outcome) => guarded(client, () => hook(outcome))), operation);
  const caller = { signal, request, onOutcome, left: withFacts(operation, unknown('aborted')) };
  /** Waits for `work`, but not beyond the caller's abort, the deadline, or `close()`. */
  const inItsTime = <T>(work: Promise<T>) => unlessLate(clock, deadline - clock.now(), work, signal ? [signal, client.closing] : [client.closing]);
  let heldLock = given.held;
  let reading: Promise<PreparedCall> | undefined;
  let { lookBefore } = given;
  let seen: OperationRun['seen'] | undefined;
  for (;;) {
    const flight = flights.get(address.operationKey);
    if (!flight) {
      // Nothing is awaited between the look above and this claim: two clicks in one tick are one operation.
      const claimed = new InFlightOperation(client, address.operationKey, deadline, seen);
      const answer = claimed.join({ ...caller, joined: false });
      reading ??= given.read();
      void fly({ ...operation, stop: claimed.stop }, claimed, reading, heldLock, lookBefore).catch((error) => claimed.land({ fail: () => error }));
      return answer;
    }
    // Release the lock that this call holds: the operation in flight needs it.
    heldLock?.();
    heldLock = undefined;
    // A call that the function of the operation in flight makes for the same operation would wait for itself.
    if (settings.whenBusy === 'reject' || isWithin(operation)) {
      unheard(onOutcome);
      throw busyError(operation);
    }
    reading ??= given.read();
    // With `always`, a call that a listener makes when it hears of the end means another effect.
    const heardEnd = flight.ended;
    const meansAnother = heardEnd && settings.repeat === 'always';
    const looksSoFar = flight.looks.length;
    const fingerprints = Promise.all([reading.catch(() => undefined), flight.fingerprint]);
    const [mine, theirs] = (await inItsTime(fingerprints)) ?? [];
    // A background call may send only what the customer agreed to. So it does not join a call that may have another payload, but waits for its end.
    const isEqual = mine && (mine.payload ? settings.repeat + mine.fingerprint === theirs : !mine.agreed);
    if (isEqual && theirs && !flight.stop.aborted && !meansAnother) return joinInTime(flight, { ...caller, joined: true }, operation);
    await inItsTime(flight.landed);
    // What that call has seen of the operation holds for this call, too: if the record is gone now, that does not mean that nothing was sent.
    seen = flight.seen;
    // If the operation under way, such as a `resume`, brings the effect about, that is what this call means, and its end is this call's end. It has done so
    // if the record has another end after the wait than before. So note which end it had before: at the last look before this call came, or at the next.
    if (!heardEnd) lookBefore ??= flight.looks[Math.max(0, looksSoFar - 1)];
    if (signal?.aborted || client.closing.aborted) {
      onOutcome?.(caller.left);
      throw signal?.aborted ? notedReason(client, signal, caller.left) : failure(operation, unknown('aborted'));
    }
    if (clock.now() >= deadline) {
      unheard(onOutcome);
      throw busyError(operation);
    }
  }
}

/** Drives the operation that this call has claimed: reads the request, takes the lock, executes, and tells all callers how it ended. */
async function fly(
  operation: Unbegun & Pick<OperationRun, 'stop' | 'logOuts'>,
  flight: InFlightOperation,
  reading: Promise<PreparedCall>,
  heldLock: Call['held'],
  lookHere: Look | undefined,
): Promise<void> {
  const { client, settings } = operation;
  // Request the lock while the body is read and digested, so that the two waits overlap.
  const lock = heldLock ? Promise.resolve(heldLock) : tryLock(client, operation.lock);
  try {
    let unread = true;
    const read = reading.then((request) => {
      unread = false;
      // Reading may take long by itself. If the page sleeps after that, before the first look, `move` or a sweep may take the record meanwhile.
      flight.seen.at = Math.min(flight.seen.at, client.platform.clock.now());
      return request;
    });
    const preparing = Promise.all([read, idsOf(client, operation), lock]);
    // Reading has the same limit, and either may be over first.
    const late = () => (unread ? new UnreplayableBody('the request could not be read in time') : busyError(operation));
    const [request, ids, held] = await inTime(operation, settings.limits.totalMs, preparing, late);
    flight.fingerprinted(settings.repeat + request.fingerprint);
    const { key, ...prepared } = request;
    const job: OperationRun = {
      ...operation,
      seen: flight.seen,
      settings: key === undefined ? settings : { ...settings, key },
      ...ids,
      ...prepared,
      resumeOnly: !request.payload,
    };
    // Another context drives. If the look at the record fails, calls that wait for this one take whatever end they find for the end of this operation.
    if (!held && settings.whenBusy === 'join') flight.looks[0] = {};
    const taken = await takeLock(job, held);
    // A look before the wait for a call of this realm came earlier than one before the wait for the lock.
    const lookBefore = lookHere ?? taken.lookBefore;
    if (lookBefore) flight.looks[0] = lookBefore;
    const ended = isAbandoned(job) ? leftBefore(job, true) : execute({ ...job, locked: taken.locked, lookBefore }, flight);
    conclude(job, flight, await ended.finally(taken.release));
  } catch (error) {
    void lock.then((release) => release?.());
    // Another context that holds the lock may send at any moment. If the lock manager does not answer, assume that there is one.
    const isElsewhere = async () => !(await unlessLate(client.platform.clock, THAW_MS, lock));
    if (isAbandoned(operation) && !isOnceError(error)) return conclude(operation, flight, await leftBefore(operation, await isElsewhere()));
    readAnew(client, operation.operationKey);
    const cause = error instanceof UnreplayableBody ? await bodyError(operation, error, await isElsewhere()) : error;
    flight.land(
      isOnceError(cause)
        ? { outcome: cause.outcome, fail: (own) => (own === cause.outcome ? cause : new OnceError(cause.code, own, cause)) }
        : { fail: () => cause },
    );
    announceChange(client);
  }
}

/**
 * One call that holds its lock: begins, drives, finishes. If its key turns out to be used up without an effect, it starts again with a new
 * one.
 */
async function execute(job: OperationRun, flight: InFlightOperation, round = 1): Promise<Ended> {
  await readyStore(job);
  const begun = await claim(job);
  if (begun.wrote) announceChange(job.client);
  flight.looks.push({ ended: endedBefore(begun.record) });
  flight.seen.record = begun.record ?? flight.seen.record;
  if (begun.do === 'busy') {
    await awaitLease(job, begun.ms);
    if (isAbandoned(job)) return leftBefore(job, false, true);
    return execute({ ...job, lookBefore: job.lookBefore ?? flight.looks.at(-1) }, flight, round);
  }
  if (begun.do !== 'drive' && begun.do !== 'key-expired' && begun.do !== 'elsewhere') return rememberedResult(job, begun);
  const finished = await driveRecord(job, begun);
  if (!('anew' in finished)) return finished;
  // Listeners have heard of attempts, so they hear of the end, also if another round makes none.
  const end =
    typeof job.settings.key === 'string'
      ? // The app chose this key, so it can't be replaced.
        failed(job, rejected(), 'ERR_ONCE_KEY_BURNT')
      : round < ROUNDS_MAX
        ? await execute({ ...job, lookBefore: undefined, again: finished }, flight, round + 1)
        : failed(job, unknown('unavailable'));
  return { ...end, driven: true };
}

/** Drives the record: chooses what to send, makes attempts, finishes. If nothing may be sent, only asks `reconcile`. */
async function driveRecord(job: OperationRun, begun: Extract<Begun, { do: 'drive' | 'key-expired' | 'elsewhere' }>): Promise<Finished> {
  const { record } = begun;
  const { client } = job;
  const { payloads } = client.registry;
  const keyed = keyedOperationOf(job.operationKey, record.key);
  const present = record.payloads.at(-1) as string;
  const maySend = begun.do === 'drive';
  // The server compares a request's bytes with those that first reached its key layer, so the earlier call's bytes are sent again. This call's
  // own bytes go out if every earlier attempt was refused, because a form may have been corrected, or if this operation follows one that has ended.
  const sendsOwn = maySend && (begun.refusedOnly || (begun.inserted && record.previous)) && job.payload;
  const earlier = sendsOwn ? undefined : (payloads.get(keyed)?.get(present) ?? client.parts.requests?.fromStore(record));
  const own = { payload: (earlier && job.payload?.withBytesOf?.(earlier)) ?? job.payload, settings: job.settings };
  const { payload, settings } = job.resumes?.sends?.(job, record, earlier) ?? own;
  const start: Start = maySend
    ? { ...begun, otherBytes: begun.otherBytes && !earlier }
    : { record, resumed: true, changed: false, sentBefore: true, asks: true };
  const drive: Driver = {
    job: { ...job, payload, settings: settings ?? job.settings },
    start,
    record,
    ambiguous: start.resumed || !record.random,
    sameAmbiguous: start.sentBefore,
    refusals: refusalsOf(job, start),
    attempts: 0,
    storedIn: storedIn(storeForOperation(job)),
  };
  // The claim has raised the revision. What this page knows to be done, it keeps under the new one.
  if (knownDone(job, record)) keepLastKnown(job, record);
  // Nothing can be sent, so only `reconcile` can say more: the key must not go out again, there is no payload, or not its dialect.
  if (!maySend || !payload || !settings) return finish(drive, { decision: stop(maySend ? (payload ? 'no-answer' : 'record') : begun.do, true) });
  const kept = payloads.get(keyed) ?? new Map<string, Payload>();
  if ((earlier ?? job.payload) && !start.otherBytes) keepRecent(kept, present, payload, PAYLOADS_MAX);
  keepRecent(payloads, keyed, kept, OPERATIONS_MAX);
  const finished = await holdingLease(drive, async () => finish(drive, await makeAttempts(drive, payload)));
  // While the operation is open, keep its payloads: the next call may have to send one again to learn how it ended.
  if ('anew' in finished || finished.outcome.effect !== 'unknown') payloads.delete(keyed);
  else keepLastKnown(job, drive.record, start.found?.lease);
  return finished;
}

/** Tells screens and logs how the operation ended, then its callers. */
function conclude(job: Pick<OperationRun, 'client' | 'operationKey' | 'name' | 'label'>, flight: InFlightOperation, ended: Ended): void {
  const { client, operationKey } = job;
  const { outcome, record, driven, result } = ended;
  const settled = outcome.type !== 'unknown';
  flight.ended = true;
  if (driven) flight.seen.at = outcome.effect === 'none' ? Infinity : -Infinity;
  if (settled) publish(client, operationKey, { phase: 'settled', outcome });
  // The record is what the driver knows. The app may have changed or removed it meanwhile.
  else readAnew(client, operationKey, record);
  if (driven) emit(job, outcome.key ?? '', { type: settled ? 'settled' : 'unknown', outcome, result });
  if (settled) sweepNowAndThen(client);
  flight.land(ended);
  if (driven) announceChange(client);
}
