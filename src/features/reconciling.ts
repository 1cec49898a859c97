/** Asks the app's `reconcile` what became of an operation. */

import { refuseArguments } from '../arguments.js';
import type { UnknownReason } from '../core/codes.js';
import { isOfEarlier } from '../core/decide.js';
import { typeOf } from '../core/name.js';
import { rejected, replayed, unknown } from '../core/outcome.js';
import { mayArrive } from '../core/retention.js';
import { isHtml } from '../core/verdict.js';
import { tellsOfError, workState } from '../core/work-state.js';
import { isSamePerson, sessionOf } from '../engine/address.js';
import { checkOwner } from '../engine/attempt-loop.js';
import type { Driver, Parts } from '../engine/client.js';
import { endRecord } from '../engine/end-record.js';
import { finish, settle, tell } from '../engine/finish.js';
import { ANEW, type Finished } from '../engine/in-flight.js';
import { knownDone } from '../engine/last-known.js';
import { emit } from '../engine/observe.js';
import { storeTimeOf } from '../engine/record-access.js';
import type { Proof, Result } from '../engine/result.js';
import { isAbandoned, withSignal } from '../engine/wait.js';
import { answerOf, resultOf } from '../http/answer.js';
import { jsonOf } from '../http/bytes.js';
import { isResponse, readForeign } from '../http/foreign-response.js';
import type { Answered } from '../http/transport-result.js';
import type { Feature } from '../option-types.js';

/**
 * Lets a client ask the app's `reconcile` what became of an operation when the server's answers can't tell.
 *
 * @example
 * const once = createOnce({ use: [reconciling()], reconcile: async ({ key }) => ((await findOrder(key)) ? 'done' : 'unknown') });
 */
export const reconciling: () => Feature = (...given: unknown[]) => {
  refuseArguments('reconciling', given);
  return { parts: { ask, whose } satisfies Partial<Parts> };
};

/** Whether the payload is a function given to `run`. Then callers wait for a value, not for a Response, also after a resume. */
const isEffect = ({ record }: Driver): boolean => record.origin === '';

/** Asks `reconcile`, and acts on what it says; `undefined` if it does not know either. */
async function ask(drive: Driver, reason: UnknownReason | 'done-elsewhere', result: Result | undefined, cause: unknown): Promise<Finished | undefined> {
  const { job, record } = drive;
  // Note this before the question: what arrives after the app has looked is not in its answer.
  const early = mayStillArrive(drive);
  const proof = await prove(drive, reason, result);
  if (!proof || (proof === 'none' && early)) return undefined;
  // An earlier payload is done, but the present one is not. So the present one (a changed state, or the next effect of the name) must still be sent.
  const wasSent = drive.start.sentBefore || drive.attempts > 0;
  const present = job.resumeOnly ? record.payloads.at(-1) : job.fingerprint;
  const others = record.payloads.filter((one) => one !== present);
  // The effect is an earlier payload's if the server said so (`mismatch`), or if the present payload was never sent or is not listed.
  // So it is that of an operation whose record is lost, if that may have used this derived key.
  const hasEarlier = others.length > 0 || (record.madeAgain && isOfEarlier({ ...drive, repeat: job.settings.repeat }));
  const isEarlier = hasEarlier && (reason === 'mismatch' || !wasSent || others.length === record.payloads.length);
  if (proof !== 'none' && isEarlier && job.settings.repeat !== 'never')
    return settle(drive, replayed('reconcile'), undefined, { earlier: true, payloads: others });
  if (typeof proof === 'object' && !isEffect(drive)) return settle(drive, replayed('reconcile'), proof);
  if (proof === 'none') {
    if (!(await endRecord(job, record, rejected(), { sticky: reason === 'burnt' }))) return tell(drive, unknown('store'), result);
    // The server may still execute the payload that it holds, if a call sends that payload again. So do not replace a key that is not random (decision 11).
    const keyStays = !record.random && (reason === 'mismatch' || reason === 'bytes');
    // If the server refused, its refusal is the answer. Otherwise the call goes on under a new key, if it has something to send.
    // "Unavailable" is a reason to ask after a refusal that may hide an effect, and after a 5xx of a server that knows no keys.
    const refused = /^refused/.test(reason) || (reason === 'unavailable' && job.payload?.keyed?.(job, record.carrier) !== false);
    return keyStays || refused || job.resumeOnly ? tell(drive, rejected(), result, undefined, { cause }) : ANEW;
  }
  const known = knownDone(job, record);
  const lost = (await endRecord(job, record, replayed('reconcile'))) ? undefined : await checkOwner(drive);
  // It is done, but another driver owns the record now, and the effect may be that of its key: this call has lost its claim.
  if (lost?.lost && !lost.ended) {
    // Callers are told `unknown`. With `always`, as without a name, the next call goes on with this operation then, and does not mean another effect.
    if (job.settings.repeat === 'always' && !known) job.client.registry.lastKnown.delete(job.operationKey);
    return finish(drive, { ...lost, result });
  }
  return tell(drive, replayed('reconcile'), proof === 'done' ? result : proof, 'ERR_ONCE_ALREADY_DONE');
}

/**
 * Whether the last attempt of an earlier driver, which died or sleeps, may still be on its way, or a function given to `run` has not ended.
 * Until then, nobody knows of no effect.
 */
function mayStillArrive({ job, record, start }: Driver): boolean {
  const { lease } = start.asks ? record : (start.found ?? { lease: undefined });
  return job.client.registry.running?.has(record.key) || mayArrive({ ...record, lease }, job.settings.limits, storeTimeOf(job));
}

/** Asks `reconcile` which payload had the effect that a 2xx reports. If it was the present payload, gives the answer to it. */
async function whose(drive: Driver, result: Result | undefined): Promise<Result | undefined> {
  const proof = isEffect(drive) ? undefined : await prove(drive, 'mismatch', result);
  return typeof proof === 'object' ? proof : undefined;
}

/** Asks the hook. `undefined` if there is none, if it does not know, or if another user was logged in before or during the question. */
async function prove(drive: Driver, reason: UnknownReason | 'done-elsewhere', result: Result | undefined): Promise<Proof | undefined> {
  const { job, record } = drive;
  const { client, settings, stop, deadline } = job;
  const { reconcile, limits } = settings;
  // The hook would ask with the credentials of the user who is logged in now, and see what that user may see.
  if (!reconcile || !isSamePerson(job)) return undefined;
  const session = sessionOf(job);
  const { clock } = client.platform;
  const ms = Math.min(limits.attemptMs, deadline - clock.now());
  if (ms <= 0 || isAbandoned(job)) return undefined;
  try {
    const proof = await withSignal(clock, ms, [stop, client.closing], async (signal) => {
      const { key, firstSentAt = record.createdAt } = record;
      return proofOf(drive, await reconcile({ operation: job.name, key, firstSentAt, reason, response: copyOf(result), signal }));
    });
    return isSamePerson(job) && sessionOf(job) === session ? proof : undefined;
  } catch (error) {
    client.platform.report(error);
    return undefined;
  }
}

/** A copy of the answer for the hook; `undefined` if it can't be copied, because a function given to `run` has read it. */
function copyOf(result: Result | undefined): Response | undefined {
  try {
    return result?.response?.clone();
  } catch {
    return undefined;
  }
}

async function proofOf(drive: Driver, said: unknown): Promise<Proof | undefined> {
  if (said === 'done' || said === 'none') return said;
  if (said === 'unknown') return undefined;
  const { job, record } = drive;
  if (isResponse(said)) {
    const answered = await readForeign(job.client, said, job.settings.limits.bodyBytes).catch((error: unknown) => job.client.platform.report(error));
    if (answered && provesDone(answered)) return resultOf(answered);
  }
  const where = isResponse(said) ? `a Response of status ${said.status}` : `got ${typeOf(said)}`;
  emit(job, record.key, { type: 'diagnostic', code: 'reconcile-unproven', where });
  return undefined;
}

/** Whether the Response proves the effect. An error does not; nor does an HTML page, which may be a login or what a single-page app gives for any address. */
function provesDone(answered: Answered): boolean {
  const answer = answerOf(answered);
  const { status } = answer;
  if (status < 200 || status > 299 || status === 202) return false;
  const json = jsonOf(answered.text);
  // A 201 says that something was made, whatever else it says.
  return !isHtml(answer) && workState(json) !== 'failed' && !tellsOfError(json) && (status === 201 || !foundNothing(json, answered));
}

const isNothing = (value: unknown): boolean => !value || (typeof value === 'object' && Object.values(value).every(isNothing));

/** Members that describe a list, not what is in it. */
const OF_THE_LIST = /^_?(meta|links|pag)/;

/**
 * Whether a document is the answer to a question, such as a search for the key, that found nothing: `null`, `[]`, `{ orders: [] }`, an
 * empty list in one of the usual members, a word such as "unpaid". Many frameworks answer without a body if a handler returns nothing.
 */
function foundNothing(json: unknown, { body, text }: Answered): boolean {
  // A body of bytes has no text, so its length counts. A body that was not read (a stream, or too long) does not count as nothing.
  if (text ? !text.trim() : body !== undefined && !(body as ArrayBuffer | null)?.byteLength) return true;
  if (json === undefined || typeof json === 'string') return json === '' || /failed|running/.test(String(workState({ status: text })));
  if (typeof json !== 'object') return !json;
  const all = (json ?? {}) as Readonly<Record<string, unknown>>;
  const { id, data, items, results, _embedded } = all;
  const found = Object.entries(all).filter(([name]) => !OF_THE_LIST.test(name));
  const lists = [data, items, results, _embedded].filter((one) => one !== undefined);
  return found.every(([, one]) => isNothing(one)) || (id === undefined && lists.some(isNothing));
}
