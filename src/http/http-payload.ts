/** A payload that is an HTTP request: how it is sent with its key, and what its answer means. */

import { carryOf, isInHeader } from '../core/carrier.js';
import type { Answer, Reading } from '../core/dialect.js';
import { retryAfterMs } from '../core/retry-after.js';
import { NO_ANSWER, NOT_A_VERDICT, NOT_SENT, readAnswer, refusesHtml } from '../core/verdict.js';
import type { AttemptRequest, AttemptResult, Client, Payload } from '../engine/client.js';
import type { Stop } from '../engine/closing.js';
import { emit } from '../engine/observe.js';
import { keepRecent } from '../engine/registry.js';
import { after, inTime, sleptSince, THAW_MS } from '../engine/wait.js';
import { answerOf, BODY_MS, readBody, resultOf } from './answer.js';
import { type ReplayableRequest, spreadable, wireOf } from './request.js';
import type { Sending, TransportResult } from './sending.js';

/** The endpoint without its query, because a server that ignores keys for one query ignores them for all. */
const endpointOf = ({ method, url }: Pick<ReplayableRequest, 'method' | 'url'>): string => `${method} ${url.split('?')[0]}`;

/** How many endpoints are remembered as ignoring keys: a server may have one for each order. */
const PLACES_MAX = 1000;

export const httpPayload = (prepared: ReplayableRequest): Payload => ({
  origin: prepared.origin,
  endpoint: endpointOf(prepared),
  prepared,
  withBytesOf: (earlier) => (earlier.prepared ? httpPayload(withBytes(prepared, earlier.prepared)) : earlier),
  send: (a) => send(prepared, a),
  // Both carriers count: if this release of the app says that the server knows no keys, what an earlier release sent with one is not sent again, either.
  keyed: ({ client, settings }, carrier) => carrier !== '' && settings.dialect.carrier !== '' && !client.registry.ignored.has(endpointOf(prepared)),
});

/** Takes the body and its content type from the earlier call, and all else from this one. */
function withBytes(present: ReplayableRequest, { body, json, headers: earlier }: ReplayableRequest): ReplayableRequest {
  const headers = new Headers(present.headers);
  const type = earlier.get('content-type');
  if (type !== null) headers.set('content-type', type);
  return { ...present, body, json, headers };
}

/** The request with its key in the place that the record says; `undefined` if the request has no such place. */
export async function withKey(prepared: ReplayableRequest, { carrier, key, firstSentAt, job }: AttemptRequest): Promise<ReplayableRequest | undefined> {
  if (carrier === '') return prepared;
  const wire = await wireOf(prepared, carrier);
  const put = carryOf(carrier, job.settings.dialect.carry)?.put(wire, key, firstSentAt);
  return put && ({ ...wire, ...put } as ReplayableRequest);
}

async function send(prepared: ReplayableRequest, a: AttemptRequest): Promise<AttemptResult> {
  let gone = false;
  const leaves = (): boolean => {
    gone = a.leaves();
    return gone;
  };
  try {
    const { client, settings, stop } = a.job;
    const { clock } = client.platform;
    const asking = clock.now();
    const keyed = withKey(prepared, a);
    // If the key goes into the body, the body must be read first, with a time limit: a file may be on a slow disk.
    const first = await (isInHeader(a.carrier) ? keyed : inTime(a.job, a.ms, keyed, () => new Error('the body could not be read in time')));
    const last = first && settings.headers ? await client.parts.hooks?.headers(first, a) : first;
    // The request has no place for the record's key.
    if (!last) return { reading: NOT_A_VERDICT };
    if (sleptSince(client, asking) && a.stillMine && !(await a.stillMine())) return { reading: NOT_SENT };
    const sending = { ms: a.ms - (clock.now() - asking), stop, bodyBytes: settings.limits.bodyBytes, leaves };
    const left = await (client.parts.around ?? callTransport)(client, last, sending, a);
    if (left.end === 'not-sent') return { reading: NOT_SENT, cause: left.cause };
    if (left.end === 'no-answer' && left.status === undefined) emit(client, a.job, a.key, { type: 'silence', origin: prepared.origin, number: a.number });
    if (left.end === 'no-answer') return { reading: NO_ANSWER, cause: left.cause, reached: left.status !== undefined };
    const answer = answerOf(left.answered);
    // The work that a 202 tells of may be that of another context, which went on with the record while the device slept. Then the 202 counts as
    // no answer; before its next attempt, this driver looks whose the record is. With `accepted: 'settle'` any 202 means done.
    if (answer.status === 202 && settings.accepted !== 'settle' && sleptSince(client, asking) && a.stillMine && !(await a.stillMine()))
      return { reading: NO_ANSWER, reached: true };
    const reading = read(prepared, left.answered.response, answer, a);
    const asked = retryAfterMs(answer.header, clock.now());
    const refusal = reading.kind === 'refused' ? await client.platform.digest(`${answer.status}\n${answer.text}`) : undefined;
    return {
      reading,
      refusal,
      mayResend: left.mayResend,
      result: resultOf(left.answered),
      reached: true,
      retryAfterMs: asked ?? (reading.kind === 'in-progress' ? settings.dialect.inProgressAfterMs : undefined),
    };
  } catch (cause) {
    // A hook failed before the transport was called, or the answer could not be read.
    return { reading: gone ? NO_ANSWER : NOT_SENT, cause };
  }
}

/** Sends once. Rejects only if the platform throws while it judges an error, and never waits longer than `ms`, even if the transport ignores an abort. */
export function callTransport(client: Client, prepared: ReplayableRequest, sending: Sending): Promise<TransportResult> {
  if (!sending.leaves()) return Promise.resolve({ end: 'not-sent' });
  const controller = new AbortController();
  const { method, headers, body = null } = prepared;
  // A cache may have the answer to an earlier key, or to the poll of its work. Older rules of Workers have no such option.
  const fresh = method === 'GET' && !client.platform.isolated && { cache: 'no-store' };
  const init = { ...prepared.rest, ...fresh, method, headers: spreadable(headers), body, signal: controller.signal } as RequestInit;
  let response: Response | undefined;
  const { clock } = client.platform;
  const end = clock.now() + sending.ms;
  const sent = async (): Promise<TransportResult> => {
    try {
      response = await client.transport.send(prepared.url, init);
      const patienceMs = Math.min(BODY_MS, Math.max(0, end - clock.now()) / 2);
      const answered = await readBody(response, sending.bodyBytes, clock, patienceMs);
      // The rest of the body comes after this attempt. As with fetch, the signals of those who read it can abort it.
      if (answered.body === undefined) abortWith(controller, sending.stop);
      return { end: 'answer', answered, mayResend: client.transport.mayResend(init) };
    } catch (cause) {
      const never = !controller.signal.aborted && response === undefined && client.transport.neverSent(cause, init);
      return never ? { end: 'not-sent', cause } : { end: 'no-answer', cause, status: response?.status };
    }
  };
  return new Promise((resolve, reject) => {
    const late = (): void => {
      controller.abort();
      resolve({ end: 'no-answer', status: response?.status });
    };
    // Made before, because `after` calls back at once if the signal has aborted.
    let off = (): void => {};
    off = after(clock, sending.ms, [sending.stop], () => {
      // The device slept, or its clock was set: an answer that came meanwhile gets a moment to arrive here.
      if (sleptSince(client, end)) off = after(clock, THAW_MS, [sending.stop], late);
      else late();
    });
    sent()
      .finally(() => off())
      .then(resolve, reject);
  });
}

/** Aborts the controller when `stop` aborts. A function of its own, so that `stop` keeps nothing else of the attempt in memory. */
const abortWith = (controller: AbortController, stop: Stop): void => stop.addEventListener('abort', () => controller.abort(stop.reason));

/** Reads an answer: the app's `verdict` hook first, then the dialect and the common rules. */
function read(prepared: ReplayableRequest, response: Response, answer: Answer, a: AttemptRequest): Reading {
  const { client, settings } = a.job;
  const { accepted, dialect } = settings;
  const { ambiguous } = a;
  if (/^\s*ignored\s*$/i.test(answer.header('idempotency-status') ?? answer.header('x-idempotency-status') ?? '')) {
    const where = endpointOf(prepared);
    keepRecent(client.registry.ignored, where, true, PLACES_MAX);
    emit(client, a.job, a.key, { type: 'diagnostic', code: 'key-ignored', where });
  }
  emit(client, a.job, a.key, { type: 'answered', origin: prepared.origin, answer, ambiguous, dialect });
  const said = settings.verdict && client.parts.hooks?.verdict(response, answer, a, false);
  if (said) return said;
  const { method, headers, json } = prepared;
  const sentJson = json || /json/i.test(headers.get('content-type') ?? '');
  const asked = {
    method,
    key: a.key,
    refusesHtml: refusesHtml(sentJson, headers.get('accept')),
    accepted,
    otherPayloads: a.otherPayloads,
  };
  return readAnswer(answer, asked, dialect, ambiguous);
}
