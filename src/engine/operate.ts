/** The life of one operation in one call: claim, begin, drive, finish. */
import type { Begun } from '../core/begin.js';
import { encodeName } from '../core/name.js';
import { type Outcome, replayed, unknown, unsent } from '../core/outcome.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { isOnceError, OnceError, type OnceErrorCode } from '../errors.js';
import type { Settings } from '../options.js';
import { again } from './attempt.js';
import { beginRecord, busyError, storeError, takeLock, type Waited } from './claim.js';
import type { Client, Job, Place } from './client.js';
import { Drive } from './drive.js';
import { type Finished, finish } from './finish.js';
import { abortReason, type Ended, Flight } from './flight.js';
import { emit, guarded, pendingOf, publish, rememberedOutcome } from './observe.js';
import { BodyTrouble, type Draft, fingerprint, type Prepared, prepare } from './prepared.js';
import { keepRecent } from './registry.js';
import { readStored, storedIn, storeOf } from './storing.js';
import { sweepNowAndThen } from './sweep.js';
import { wait, within } from './wait.js';

/** Where the operation of this name is; throws a TypeError on a wrong name or an empty namespace. */
export function placeOf(client: Client, name: unknown): Place {
  const label = encodeName(name);
  const given = client.settings.namespace;
  const namespace = given ? given() : '';
  if (given && (typeof namespace !== 'string' || namespace === '')) throw new TypeError(`once: namespace must give a non-empty string, got ${namespace === '' ? 'an empty one' : typeof namespace}`);
  return { name: name as Place['name'], label, namespace, slot: JSON.stringify([client.store.scope, namespace, label]) };
}

/** Ids in the store are digests, so that it does not show whose records they are. */
export async function idsOf({ platform }: Client, { namespace, label }: Pick<Place, 'namespace' | 'label'>): Promise<{ id: string; ns: string }> {
  const [id, ns] = await Promise.all([platform.digest(JSON.stringify([namespace, label])), platform.digest(JSON.stringify([namespace]))]);
  return { id: id.slice(0, 32), ns: ns.slice(0, 32) };
}

/** One caller's call. `draft` is absent when it only goes on with what is stored. */
export async function operate(client: Client, settings: Settings, place: Place, draft: Draft | undefined, signal: AbortSignal | undefined): Promise<Response> {
  const startedAt = client.platform.clock.now();
  const { flights } = client.registry;
  const { onOutcome } = settings;
  const told = onOutcome && ((outcome: Outcome) => guarded(client, () => onOutcome(outcome)));
  const caller = { signal, request: draft?.request, told };
  let read: Promise<Read> | undefined;
  for (;;) {
    const flight = flights.get(place.slot);
    if (!flight) {
      // Nothing is awaited between the look above and this claim: two clicks in one tick are one operation.
      const own = new Flight(client.registry, place.slot, client);
      const answer = own.join({ ...caller, joined: false });
      void fly(client, settings, place, own, (read ??= readRequest(client, settings, draft)), startedAt);
      return answer;
    }
    if (settings.whenBusy === 'reject') throw busyError(place);
    read ??= readRequest(client, settings, draft);
    const mine = await read.catch(() => undefined);
    const theirs = await flight.fingerprint;
    const same = !draft || (mine !== undefined && mine.fingerprint === theirs);
    if (same && theirs !== undefined && !flight.stop.aborted) return flight.join({ ...caller, joined: true });
    await cutBy(client, signal, startedAt + settings.limits.totalMs, flight.landed);
    if (client.platform.clock.now() >= startedAt + settings.limits.totalMs) throw busyError(place);
    if (signal?.aborted) throw abortReason(signal);
  }
}

/** Waits, but no longer than the caller wants to or may. */
function cutBy({ platform }: Client, signal: AbortSignal | undefined, deadline: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  void work.then(() => over.abort());
  return wait(platform.clock, deadline - platform.clock.now(), signal ? [signal, over.signal] : [over.signal]);
}

interface Read {
  readonly prepared: Prepared | undefined;
  readonly fingerprint: string;
  readonly raw: string;
}

async function readRequest(client: Client, settings: Settings, draft: Draft | undefined): Promise<Read> {
  if (!draft) return { prepared: undefined, fingerprint: '', raw: '' };
  const { clock } = client.platform;
  const prepared = await within(clock, settings.limits.totalMs, prepare(draft, settings.limits.bodyBytes), () => new BodyTrouble('the body did not come to an end in time'));
  return { prepared, ...(await fingerprint(draft, prepared, client.platform.digest, settings.fingerprint)) };
}

async function fly(client: Client, settings: Settings, place: Place, flight: Flight, read: Promise<Read>, startedAt: number): Promise<void> {
  try {
    const [request, ids] = await Promise.all([read, idsOf(client, place)]);
    flight.fingerprinted(request.fingerprint);
    const job: Job = { client, settings, ...place, ...ids, ...request, stop: flight.stop, startedAt, deadline: startedAt + settings.limits.totalMs, resumeOnly: request.prepared === undefined };
    const ended = await underLock(job);
    conclude(job, ended);
    flight.land(ended);
  } catch (error) {
    calmDown(client, place.slot);
    const known = error instanceof BodyTrouble ? await bodyError(client, place, error) : error;
    flight.land(isOnceError(known) ? { outcome: known.outcome, fail: (own) => (own === known.outcome ? known : new OnceError(known.code, own, { cause: known })) } : { broken: known });
  }
}

/** Nothing is under way any more; what is stored could not be found out, or did not change. */
function calmDown(client: Client, slot: string): void {
  const state = client.registry.lives.get(slot)?.state;
  if (state?.phase === 'sending' || state?.phase === 'waiting') publish(client, slot, { phase: 'loading' });
}

/** Raised after the look, so that "nothing was sent" is true of the operation. */
async function bodyError(client: Client, place: Place, cause: BodyTrouble): Promise<unknown> {
  const job = { client, ...place };
  try {
    const stored = await readStored(client, place.slot, (await idsOf(client, place)).id);
    const record = stored === undefined ? undefined : readRecord(stored);
    const clean = stored === undefined || (record !== undefined && !(record.state === 'pending' && record.ambiguous));
    const outcome = { ...facts(job), ...(clean ? { sent: 'no' as const, ...unsent('unreplayable-body') } : unknown('record')) };
    return new OnceError('ERR_ONCE_BODY', outcome, { cause, says: cause.message.replace('once: ', '') });
  } catch (error) {
    return storeError(job, error);
  }
}

/** Tells screens and logs how it ended. */
function conclude(job: Job, { outcome, record, driven }: Ended): void {
  const { client, slot } = job;
  if (outcome.type === 'unknown') {
    if (record) publish(client, slot, { phase: 'unsettled', pending: pendingOf(record, client.registry.requests.has(`${slot}\n${record.key}`)) });
    else calmDown(client, slot);
    if (driven) emit(client, job, outcome.key ?? '', { type: 'unknown', outcome });
  } else {
    publish(client, slot, { phase: 'settled', outcome });
    if (driven) emit(client, job, outcome.key ?? '', { type: 'settled', outcome });
    sweepNowAndThen(client);
  }
}

async function underLock(job: Job): Promise<Ended> {
  const { release, waited } = await takeLock(job);
  try {
    // Each round ends with a key used up without an effect; two of them in one call is one too many to go on.
    for (let round = 0; ; round++) {
      const finished = await oneRound(job, round === 0 ? waited : undefined);
      if (finished !== 'anew') return finished;
      if (round > 1) return { outcome: { ...facts(job), ...unknown('unavailable') }, fail: (own) => new OnceError('ERR_ONCE_UNKNOWN', own) };
    }
  } finally {
    release();
  }
}

const facts = (job: Pick<Job, 'client' | 'name' | 'slot'>) => ({
  operation: job.name.length ? job.name : undefined,
  key: undefined,
  attempts: 0,
  firstSentAt: undefined,
  sent: 'maybe' as const,
  resumed: false,
  joined: false,
  storedIn: storedIn(storeOf(job.client, job.slot)),
});

async function oneRound(job: Job, waited: Waited | undefined): Promise<Finished> {
  const { client, slot } = job;
  const begun = await beginRecord(job, waited);
  if (begun.do !== 'drive' && begun.do !== 'expired') return told(job, begun);
  const { record } = begun;
  const requests = client.registry.requests.get(`${slot}\n${record.key}`);
  const prepared = job.prepared ?? requests?.get(record.payloads.at(-1) ?? '') ?? fromStore(record);
  const start = begun.do === 'drive' ? begun : { record, inserted: false, resumed: true, changed: false, sentBefore: true, otherBytes: false };
  // Without a request there is nothing to send, and only `reconcile` can say more.
  const drive = new Drive(job, prepared ?? EMPTY, start);
  if (begun.do === 'expired') return finish(drive, { decision: { do: 'stop', ending: unknown('key-expired'), ask: true } });
  if (!prepared) return finish(drive, { decision: { do: 'stop', ending: unknown('no-answer'), ask: true } });
  const kept = requests ?? new Map<string, Prepared>();
  keepRecent(kept, record.payloads.at(-1) ?? '', prepared, 8);
  keepRecent(client.registry.requests, `${slot}\n${record.key}`, kept, 32);
  const finished = await finish(drive, await drive.run());
  if (finished === 'anew' || finished.outcome.effect !== 'unknown') client.registry.requests.delete(`${slot}\n${record.key}`);
  return finished;
}

const EMPTY: Prepared = { method: 'POST', url: '', origin: '', headers: new Headers(), body: undefined, rest: {}, signal: undefined, request: undefined };

const fromStore = ({ request, origin }: OnceRecord): Prepared | undefined =>
  request && { ...EMPTY, method: request.method, url: request.url, origin, headers: new Headers(request.headers.map(([name, value]) => [name, value] as [string, string])), body: request.body as Prepared['body'] };

/** What a call that drives nothing is told. */
function told(job: Job, begun: Exclude<Begun, { do: 'drive' | 'expired' }>): Ended {
  const { client, slot } = job;
  const fail = (code: OnceErrorCode, says?: string) => (own: Ended['outcome']) => new OnceError(code, own, says ? { says } : {});
  if (begun.do === 'corrupt') return { outcome: { ...facts(job), ...unknown('record') }, fail: fail('ERR_ONCE_RECORD') };
  if (begun.do === 'nothing' || begun.do === 'rekey') return { outcome: { ...facts(job), ...unknown('record') }, fail: fail('ERR_ONCE_UNKNOWN', 'nothing is stored under this name that could be resumed') };
  const { record } = begun;
  const where = storedIn(storeOf(client, slot));
  if (begun.do === 'mismatch') return { outcome: { ...rememberedOutcome(record, unknown('mismatch'), where, true), sent: 'maybe' }, record, fail: fail('ERR_ONCE_MISMATCH') };
  if (begun.do === 'key-burnt') return { outcome: rememberedOutcome(record, { type: 'rejected', effect: 'none', replayed: true }, where, true), fail: fail('ERR_ONCE_KEY_BURNT') };
  const result = begun.do === 'remembered' && record.state === 'settled' ? client.registry.answers.get(`${slot}\n${record.key}`) : undefined;
  const ending = record.state === 'settled' ? replayed(result ? 'memory' : 'store') : (record.ending ?? unknown('record'));
  const outcome = rememberedOutcome(record, ending, where, true);
  return result ? { outcome, result: { ...result, response: again(result) ?? result.response } } : { outcome, fail: fail('ERR_ONCE_ALREADY_SETTLED') };
}
