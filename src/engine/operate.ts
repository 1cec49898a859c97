/** One call: joins an operation in flight, or claims the name and drives it. */
import { carryOf, isInHeader } from '../core/carrier.js';
import { typeOf } from '../core/name.js';
import { type Outcome, unknown, unsent } from '../core/outcome.js';
import { isOnceError, OnceError } from '../errors.js';
import { httpPayload } from '../http/http-payload.js';
import { fingerprint, prepare, type ReplayableRequest, type RequestInput, UnreplayableBody, wireOf } from '../http/request.js';
import type { Settings } from '../options.js';
import { wrong } from '../texts/full.js';
import { idsOf } from './address.js';
import { takeLock, tryLock } from './claim.js';
import type { Call, Client, OperationRun, PreparedCall } from './client.js';
import { contextOfCall } from './context.js';
import { conclude, execute, leftBefore, leftClean } from './execute.js';
import { busyError, failure, storeError, undriven } from './failure.js';
import { abortReason, giveUp, InFlightOperation } from './in-flight.js';
import { changed, guarded, readAnew } from './observe.js';
import { CallerLeft, inTime, limit, unlessLate, within } from './wait.js';

/** The request of a call that brings none: it only goes on with what is stored. */
export const NOTHING_TO_READ = async (): Promise<PreparedCall> => ({ payload: undefined, fingerprint: '', raw: '' });

/** Reads the request: its body becomes bytes, once. */
export async function readRequest(client: Client, settings: Settings, draft: RequestInput): Promise<PreparedCall> {
  const { clock, digest } = client.platform;
  let late = (): Error => new UnreplayableBody('the body did not come to an end in time');
  const reading = async (): Promise<PreparedCall> => {
    const prepared = await prepare(draft, settings.limits.bodyBytes, digest);
    const key = await borneKey(settings, prepared);
    late = () => new TypeError('once: fingerprint did not answer in time');
    // Take the fingerprint before a key is put into the body.
    const { hooks } = client.parts;
    const print = settings.fingerprint && hooks && ((body: string | Uint8Array, json: boolean) => hooks.fingerprint(settings, prepared, body, json));
    const { json, ...prints } = await fingerprint(prepared, digest, print);
    return { payload: httpPayload({ ...prepared, json }), ...prints, key };
  };
  return within(clock, settings.limits.totalMs, reading(), () => late());
}

/** The key that the request already has, if any. Throws a TypeError if the request has no place for a key. */
async function borneKey({ dialect: { carrier, carry: other, name } }: Settings, prepared: ReplayableRequest): Promise<string | undefined> {
  const carry = carryOf(carrier, other);
  // Every request can take a header, so there is no need to try it on a copy.
  if (carry && isInHeader(carrier)) return carry.find(prepared);
  const wire = await wireOf(prepared, carrier);
  const key = carry?.find(wire);
  if (carrier && key === undefined && !carry?.put(wire, 'x', 0)) throw new TypeError(wrong(`dialect ${name}: ${carrier}`, 'no-place'));
  return key;
}

/** Makes the call. Resolves with the answer, or with the value of a function given to `run`. `handed`: the part `call` has had it already. */
export async function operate(asked: Call, handed = false): Promise<unknown> {
  // Before the claim: afterwards, the operation would go on without its caller.
  if (asked.signal != null && !asked.signal.addEventListener) throw new TypeError(wrong('signal', 'signal', typeOf(asked.signal)));
  const { parts } = asked.client;
  if (parts.call && !handed) return parts.call(asked, (own) => operate(own, true));
  const call = { ...asked, client: contextOfCall(asked.client) };
  let { held } = call;
  const { client, settings, address, signal, request } = call;
  const { clock } = client.platform;
  const { startedAt = clock.now() } = call;
  const deadline = startedAt + settings.limits.totalMs;
  const { flights } = client.registry;
  const here = { client, ...address };
  const { onOutcome } = settings;
  const told = onOutcome && ((outcome: Outcome) => guarded(client, () => onOutcome(outcome)));
  const caller = { signal, request, told, left: undriven(here, unknown('aborted')) };
  let read: Promise<PreparedCall> | undefined;
  for (;;) {
    const flight = flights.get(address.operationKey);
    if (!flight) {
      // Nothing is awaited between the look above and this claim: two clicks in one tick are one operation.
      const own = new InFlightOperation(client.registry, address.operationKey, client, deadline);
      const answer = own.join({ ...caller, joined: false });
      read ??= call.read();
      void fly(call, own, read, startedAt, held);
      return answer;
    }
    // The operation under way in this realm needs the lock that this call holds.
    held?.();
    held = undefined;
    // Inside of the function that the other call runs, this one would wait for itself.
    if (settings.whenBusy === 'reject' || client.platform.nesting?.has(address.operationKey)) throw busyError(here);
    read ??= call.read();
    // This call was made after the other one had ended, by a listener that was told so. With `always` it means another effect.
    const after = flight.ended && settings.repeat === 'always';
    const both = Promise.all([read.catch(() => undefined), flight.fingerprint]);
    const [mine, theirs] = (await cutBy(client, signal, deadline, both)) ?? [];
    // A background call may send only what the customer agreed to. So it does not join a call that may have another payload: it waits for its end.
    const same = mine && (mine.payload ? mine.fingerprint === theirs : !mine.agreed);
    if (same && theirs !== undefined && !flight.stop.aborted && !after) {
      if (flight.endsAt <= deadline) return flight.join({ ...caller, joined: true });
      // The other call ends later: it began while this one waited, or before the clock was set back.
      const { over, off } = limit(clock, deadline - clock.now(), []);
      return flight.join({ ...caller, joined: true, late: over.then(() => busyError(here)) }).finally(off);
    }
    await cutBy(client, signal, deadline, flight.landed);
    if (signal?.aborted) throw givenUp(client, signal, caller.left);
    if (clock.now() >= deadline) throw busyError(here);
    if (client.closing.aborted) throw failure(here, unknown('aborted'));
  }
}

export function givenUp({ registry }: Client, signal: AbortSignal, left: Outcome): unknown {
  const reason = abortReason(signal);
  giveUp(registry, reason, left);
  return reason;
}

/** Waits for `work`, but not beyond the caller's abort, the deadline, or `close()`. */
function cutBy<T>({ platform, closing }: Client, signal: AbortSignal | undefined, deadline: number, work: Promise<T>): Promise<T | undefined> {
  return unlessLate(platform.clock, deadline - platform.clock.now(), work, signal ? [signal, closing] : [closing]);
}

async function fly(
  { client, settings, address }: Call,
  flight: InFlightOperation,
  read: Promise<PreparedCall>,
  startedAt: number,
  held: Call['held'],
): Promise<void> {
  // The lock is requested while the body is read and digested, so that the two waits overlap.
  const { stop } = flight;
  const here = { client, ...address, stop, deadline: startedAt + settings.limits.totalMs };
  const lock = held ? Promise.resolve(held) : tryLock(client, address.lock);
  try {
    const asked = Promise.all([read, idsOf(client, address), lock]);
    const [request, ids, free] = await inTime(here, settings.limits.totalMs, asked, () => busyError(here));
    flight.fingerprinted(request.fingerprint);
    const { key, ...rest } = request;
    const own = key === undefined ? settings : { ...settings, key };
    const job: OperationRun = { ...here, settings: own, ...ids, ...rest, resumeOnly: request.payload === undefined, aheadMs: 0 };
    const { release, waited, elsewhere } = await takeLock(job, free);
    const over = stop.aborted || client.closing.aborted;
    const ends = over ? leftBefore(job, elsewhere, waited !== undefined) : execute({ ...job, unlocked: elsewhere }, waited);
    const ended = await ends.finally(release);
    flight.ended = true;
    conclude(job, ended);
    flight.land(ended);
    if (ended.driven) changed(client);
  } catch (error) {
    void lock.then(
      (release) => release?.(),
      () => {},
    );
    // Another context that holds the lock may send at any moment. If the lock manager does not answer, assume that there is one.
    const isElsewhere = async () => !(await unlessLate(client.platform.clock, client.settings.tuning.thawMs, lock));
    if (error instanceof CallerLeft) {
      const ended = await leftBefore(here, await isElsewhere());
      flight.ended = true;
      conclude(here, ended);
      return flight.land(ended);
    }
    readAnew(client, address.operationKey);
    const known = error instanceof UnreplayableBody ? await bodyError(here, error, await isElsewhere()) : error;
    flight.land(
      isOnceError(known)
        ? { outcome: known.outcome, fail: (own) => (own === known.outcome ? known : new OnceError(known.code, own, { cause: known })) }
        : { fail: () => known },
    );
    changed(client);
  }
}

/** The error for a body that can't be sent twice. It looks at the record first, so that "nothing was sent" is true of the operation, not only of this call. */
export async function bodyError(job: Parameters<typeof leftClean>[0], cause: UnreplayableBody, elsewhere?: boolean): Promise<unknown> {
  try {
    const clean = await leftClean(job, elsewhere);
    const more = { cause, says: cause.message.replace('once: ', '') };
    return failure(job, clean ? unsent('unreplayable-body') : unknown('record'), more, 'ERR_ONCE_BODY');
  } catch (error) {
    return storeError(job, error);
  }
}
