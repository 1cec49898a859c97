/** One call that holds its lock: begin, drive, finish. If its key turns out to be used up without an effect, it starts again with a new one. */

import { type Begun, endedBefore, INSERTED } from '../core/begin.js';
import type { UnknownReason } from '../core/codes.js';
import { stop } from '../core/decide.js';
import { type Ending, type Outcome, rejected, replayed, unknown, unsent } from '../core/outcome.js';
import type { OnceRecord } from '../core/record.js';
import { NOT_SENT } from '../core/verdict.js';
import { OnceError } from '../errors.js';
import { REASONS } from '../texts/full.js';
import { idsOf, isSamePerson } from './address.js';
import { AttemptLoop } from './attempt-loop.js';
import { beginRecord, type Waited } from './claim.js';
import type { OperationAddress, OperationRun, Payload } from './client.js';
import { codeOf, undriven } from './failure.js';
import { finish } from './finish.js';
import type { Ended, Finished } from './in-flight.js';
import { awaitLease, holdingLease } from './lease.js';
import { changed, emit, guarded, pendingOf, publish, readAnew, rememberedOutcome } from './observe.js';
import { nothingSent, storedIn, storeForOperation } from './record-access.js';
import { keepRecent, keyedOperationOf } from './registry.js';
import type { Result } from './result.js';
import { answerOf, answersOf, isOwn } from './settle.js';
import type { Start } from './stopped.js';
import { sweepNowAndThen } from './sweep.js';

/** The most keys that one call tries. */
const ROUNDS_MAX = 3;

type Unbegun = OperationAddress & Pick<OperationRun, 'client' | 'deadline'>;

/**
 * Whether nothing was sent of the operation, for a call that ends before it began. If another context holds the lock (`elsewhere`),
 * that one may send at any moment. If the call has waited or the user has changed, a missing record proves nothing: it may have been
 * sent, then moved or cleared. Rejects if the store can't be read, or if the page can't make the digest for the record's id.
 */
export const leftClean = async (job: Unbegun, elsewhere = false, waited = false): Promise<boolean | undefined> =>
  !elsewhere && nothingSent({ ...job, ...(await idsOf(job.client, job)) }, !waited && isSamePerson(job.client, job.namespace));

/** The end of a call that was given up before it began. */
export async function leftBefore(job: Unbegun, elsewhere?: boolean, waited?: boolean): Promise<Ended> {
  const clean = await leftClean(job, elsewhere, waited).catch(() => false);
  return failed(undriven(job, clean ? unsent('aborted') : unknown('aborted')));
}

const failed = (outcome: Outcome, code = codeOf(outcome), says?: string, record?: OnceRecord): Ended => ({
  outcome,
  record,
  fail: (own) => new OnceError(code, own, { says }),
});

export async function execute(job: OperationRun, waited: Waited | undefined, round = 1): Promise<Ended> {
  const begun = await beginRecord(job, waited);
  if (begun.do === 'busy') {
    await awaitLease(job, begun.ms);
    if (job.stop.aborted || job.client.closing.aborted) return leftBefore(job, false, true);
    return execute(job, waited ?? { ended: endedBefore(begun.record) }, round);
  }
  // The app's strategy has no other key, so the server's refusal under this one stands.
  if (begun.do === 'key-burnt' && job.again?.refused) return job.again.refused;
  if (begun.do === 'remembered')
    return (!answerIn(job, begun.record) && (await job.client.parts.answers?.readAgain(job, begun.record))) || rememberedResult(job, begun);
  if (begun.do !== 'drive' && begun.do !== 'key-expired' && begun.do !== 'elsewhere') return rememberedResult(job, begun);
  const { record } = begun;
  const { client } = job;
  const { payloads } = client.registry;
  const keyed = keyedOperationOf(job.operationKey, record.key);
  const present = record.payloads.at(-1) ?? '';
  // The server compares a request's bytes with those that first reached its key layer, so the earlier call's bytes are sent again. This
  // call's own go out if every earlier attempt was refused, because a form may have been corrected; or if this operation follows one that has ended.
  const refused = begun.do === 'drive' && (begun.reused || begun.refusedOnly || (begun.inserted && record.previous)) && job.payload !== undefined;
  // If there is no request, but the link of a 202, there is a payload for polling it. That must never stand in for the request.
  const linked = job.payload ? undefined : client.parts.linked?.(record);
  const earlier = refused ? undefined : (payloads.get(keyed)?.get(present) ?? client.parts.requests?.fromStore(record) ?? linked);
  const payload = earlier && job.payload?.withBytesOf ? job.payload.withBytesOf(earlier) : (job.payload ?? earlier);
  const start: Start =
    begun.do === 'drive'
      ? { ...begun, otherBytes: begun.otherBytes && !earlier }
      : { ...INSERTED, record, inserted: false, resumed: true, sentBefore: true, asks: true };
  // A resumed call learns only here what its request is, and so which dialect it needs.
  const asked = job.resumeOnly && payload?.prepared;
  const { hooks } = client.parts;
  const settings = asked && hooks ? guarded(client, () => hooks.dialect(job.settings, asked)) : job.settings;
  const drive = new AttemptLoop({ ...job, payload, settings: settings ?? job.settings }, payload ?? NOTHING, start);
  const end = (reason: UnknownReason) => finish(drive, { decision: stop(reason, true) });
  let finished: Finished;
  if (begun.do !== 'drive') finished = await end(begun.do);
  // Nothing can be sent, so only `reconcile` can say more.
  else if (!payload) finished = await end('record');
  // The app's `dialect` function threw, so nothing can be sent.
  else if (!settings) finished = await end('no-answer');
  else {
    const kept = payloads.get(keyed) ?? new Map<string, Payload>();
    if (payload !== linked) keepRecent(kept, present, payload, 8);
    keepRecent(payloads, keyed, kept, 32);
    changed(client);
    finished = await holdingLease(drive, async () => {
      const stopped = await drive.run();
      const { ended } = stopped;
      return ended && isOwn(job, ended) ? rememberedResult(job, { do: 'remembered', record: ended }) : finish(drive, stopped);
    });
    // While the key stays in use, keep its payloads: the next call may have to send one again to learn how it ended.
    if ('anew' in finished || (finished.outcome.effect !== 'unknown' && !finished.keyInUse)) payloads.delete(keyed);
  }
  if (!('anew' in finished)) return finished;
  // The app chose this key, so it can't be replaced.
  if (typeof job.settings.key === 'string') return failed(undriven(job, rejected()), 'ERR_ONCE_KEY_BURNT');
  return round < ROUNDS_MAX ? execute({ ...job, again: finished }, undefined, round + 1) : failed(undriven(job, unknown('unavailable')));
}

/** A placeholder where there is nothing to send; `send` is never called. */
const NOTHING: Payload = { origin: '', endpoint: '', send: async () => ({ reading: NOT_SENT, reached: false }) };

/** The end of a call that drives nothing: what the record remembers, or why the call cannot begin. */
function rememberedResult(job: OperationRun, begun: Exclude<Begun, { do: 'drive' | 'key-expired' | 'elsewhere' | 'busy' }>): Ended {
  if (begun.do === 'corrupt') return failed(undriven(job, unknown('record')), 'ERR_ONCE_RECORD');
  if (begun.do === 'nothing' || begun.do === 'rekey') return failed(undriven(job, unknown('record')), undefined, REASONS['nothing-stored']);
  const { record } = begun;
  const outcome = (ending: Ending): Outcome => rememberedOutcome(record, ending, storedIn(storeForOperation(job)), true);
  if (begun.do === 'mismatch') return failed({ ...outcome(unknown('mismatch')), sent: record.ambiguous ? 'maybe' : 'no' }, undefined, undefined, record);
  if (begun.do === 'key-burnt') return failed(outcome(rejected(true)), 'ERR_ONCE_KEY_BURNT');
  const result = record.state === 'settled' && isOwn(job, record) ? answerIn(job, record) : undefined;
  const ending = record.state === 'settled' ? replayed(result?.from ?? 'store') : (record.ending ?? unknown('record'));
  return result ? { outcome: outcome(ending), result: result.result } : failed(outcome(ending), 'ERR_ONCE_ALREADY_SETTLED');
}

/** The remembered answer, from this context's memory or from the record. */
function answerIn(job: OperationRun, record: OnceRecord): { readonly result: Result; readonly from: 'memory' | 'store' } | undefined {
  const kept = job.client.registry.answers.get(answerOf(job, record));
  // The first caller has the original, so this one gets a copy.
  if (kept) return { result: { ...kept, value: kept.copy() }, from: 'memory' };
  const stored = record.answer && answersOf(job)?.fromStore(record.answer);
  return stored && { result: stored, from: 'store' };
}

/** Tells screens and logs how the operation ended. */
export function conclude(job: Pick<OperationRun, 'client' | 'operationKey' | 'name' | 'label'>, { outcome, record, driven }: Ended): void {
  const { client, operationKey } = job;
  const settled = outcome.type !== 'unknown';
  if (settled) publish(client, operationKey, { phase: 'settled', outcome });
  else {
    // This is what the driver knows. The app may have changed or removed the record meanwhile.
    if (record) publish(client, operationKey, { phase: 'unsettled', pending: pendingOf(client, operationKey, record) });
    readAnew(client, operationKey);
  }
  if (driven) emit(client, job, outcome.key ?? '', { type: settled ? 'settled' : 'unknown', outcome });
  if (settled) sweepNowAndThen(client);
}
