/** How a call ends that drives nothing. */

import type { Begun } from '../core/claimant.js';
import { type Ending, rejected, replayed, unknown } from '../core/outcome.js';
import { isOwn } from '../core/payloads.js';
import type { OnceRecord } from '../core/record.js';
import { REASONS } from '../texts/full.js';
import { keyOfAnswer } from './address.js';
import type { OperationRun } from './client.js';
import { answersOf } from './end-record.js';
import { endOf, failed, withFacts } from './failure.js';
import type { Ended } from './in-flight.js';
import type { Result } from './result.js';

/** The end of a call that drives nothing: what the record remembers, or why the call cannot begin. */
export async function rememberedResult(job: OperationRun, begun: Exclude<Begun, { do: 'drive' | 'key-expired' | 'elsewhere' | 'busy' }>): Promise<Ended> {
  // The app's strategy has no other key, so the server's refusal under this one stands.
  if (begun.do === 'key-burnt' && job.again?.refused) return job.again.refused;
  if (begun.do === 'corrupt') return failed(job, unknown('record'), 'ERR_ONCE_RECORD');
  if (begun.do === 'nothing' || begun.do === 'rekey') return failed(job, unknown('record'), undefined, REASONS['nothing-stored']);
  const { record } = begun;
  const known = (ending: Ending) => endOf(record, ending, true);
  if (begun.do === 'mismatch') return { ...failed(job, { ...known(unknown('mismatch')), sent: record.ambiguous ? 'maybe' : 'no' }), record };
  if (begun.do === 'key-burnt') return failed(job, known(rejected(true)), 'ERR_ONCE_KEY_BURNT');
  const { ending, result } = endIn(job, record, begun.wrote);
  if (result) return { outcome: withFacts(job, known(ending)), result };
  return (await job.client.parts.answers?.readAgain(job, record)) ?? failed(job, known(ending), 'ERR_ONCE_ALREADY_SETTLED');
}

/**
 * How the operation of an ended record ended, with the answer if that is remembered and belongs to this call's payload. Drops what this page last knew of
 * the operation, because the store knows its end. `wrote`: what this call has stored.
 */
export function endIn(job: OperationRun, record: OnceRecord, wrote?: OnceRecord): { readonly ending: Ending; readonly result?: Result | undefined } {
  const { lastKnown } = job.client.registry;
  // If this is what the page knew, and this call has not stored it, the store may not have taken it.
  if (wrote || lastKnown.get(job.operationKey) !== record) lastKnown.delete(job.operationKey);
  if (record.state !== 'settled') return { ending: record.ending ?? unknown('record') };
  const found = isOwn(job, record) ? answerIn(job, record) : undefined;
  return { ending: replayed(found?.from ?? 'store'), result: found?.result };
}

/** The remembered answer, from this context's memory or from the record. */
export function answerIn(job: OperationRun, record: OnceRecord): { readonly result: Result; readonly from: 'memory' | 'store' } | undefined {
  const kept = job.client.registry.answers.get(keyOfAnswer(job.operationKey, record))?.[0];
  // The first caller has the original, so this one gets a copy.
  if (kept) return { result: { ...kept, value: kept.copy() }, from: 'memory' };
  const stored = record.answer && answersOf(job)?.fromStore(record.answer);
  return stored && { result: stored, from: 'store' };
}
