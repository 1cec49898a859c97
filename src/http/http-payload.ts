/** A payload that is an HTTP request: how it is sent with its key, and what its answer means. */

import { carryOf, isInHeader } from '../core/carrier.js';
import type { Answer, Reading } from '../core/dialect.js';
import { retryAfterMs } from '../core/retry-after.js';
import { NO_ANSWER, NOT_A_VERDICT, NOT_SENT, readAnswer, refusesHtml } from '../core/verdict.js';
import type { AttemptRequest, AttemptResult, Client, Payload } from '../engine/client.js';
import { emit } from '../engine/observe.js';
import { keepRecent, PLACES_MAX } from '../engine/registry.js';
import type { StopSignal } from '../engine/stop-signal.js';
import { after, inTime, sleptSince, THAW_MS } from '../engine/wait.js';
import { answerOf, BODY_MS, readBody, resultOf } from './answer.js';
import { type ReplayableRequest, spreadable, wireOf } from './request.js';
import type { TransportResult } from './transport-result.js';

/** What the transport needs of an attempt. */
type Sending = Pick<AttemptRequest, 'carrier' | 'ms' | 'leaves'> & { readonly job: Pick<AttemptRequest['job'], 'stop' | 'settings'> };

/** The endpoint without its query, because a server that ignores keys for one query ignores them for all. */
const endpointOf = ({ method, url }: Pick<ReplayableRequest, 'method' | 'url'>): string => `${method} ${url.split('?')[0]}`;

export function httpPayload(prepared: ReplayableRequest): Payload {
  const endpoint = endpointOf(prepared);
  return {
    origin: prepared.origin,
    endpoint,
    prepared,
    // Takes the body and its content type from the earlier call, and all else from this one.
    withBytesOf(earlier) {
      if (!earlier.prepared) return earlier;
      const { body, json, headers } = earlier.prepared;
      const mixed = new Headers(prepared.headers);
      const type = headers.get('content-type');
      if (type) mixed.set('content-type', type);
      return httpPayload({ ...prepared, body, json, headers: mixed });
    },
    send: (attempt) => send(prepared, attempt),
    // Both carriers count. If this release of the app says that the server knows no keys, do not repeat what an earlier release sent with a key.
    keyed: ({ client, settings }, carrier) => !!carrier && !!settings.dialect.carrier && !client.registry.ignored.has(endpoint),
  };
}

/** The request with its key in the place that the record says; `undefined` if the request has no such place. */
export async function withKey(prepared: ReplayableRequest, { carrier, key, firstSentAt, job }: AttemptRequest): Promise<ReplayableRequest | undefined> {
  if (!carrier) return prepared;
  const wire = await wireOf(prepared, carrier);
  const put = carryOf(carrier, job.settings.dialect.carry)?.put(wire, key, firstSentAt);
  // If the key went elsewhere, such as into the query, the body goes out as its bytes: as text, a file would be damaged.
  return put && ({ ...wire, ...put, body: put.body === wire.body ? prepared.body : put.body } as ReplayableRequest);
}

async function send(prepared: ReplayableRequest, attempt: AttemptRequest): Promise<AttemptResult> {
  // The reading if something fails: the attempt has not left before the transport is called.
  let failed = NOT_SENT;
  try {
    const { client, settings } = attempt.job;
    const { clock } = client.platform;
    const startedAt = clock.now();
    const adding = withKey(prepared, attempt);
    // To put a key into the body, the body must be read first. Limit the time: a file may be on a slow disk.
    const keyedRequest = await (isInHeader(attempt.carrier)
      ? adding
      : inTime(attempt.job, attempt.ms, adding, () => new Error('the body could not be read in time')));
    const request = keyedRequest && settings.headers ? await client.parts.hooks?.headers(keyedRequest, attempt) : keyedRequest;
    // The request has no place for the record's key.
    if (!request) return { reading: NOT_A_VERDICT };
    const lost = sleptSince(client, startedAt) && (await attempt.stillMine?.()) === false;
    // Never more than `attempt.ms`: somebody may have set the clock back meanwhile.
    const ms = attempt.ms - Math.max(0, clock.now() - startedAt);
    // If a hook has blocked the thread, or the device has slept, for all of the attempt's time, nobody would hear the answer.
    if (lost || ms < 0) return { reading: NOT_SENT };
    failed = NO_ANSWER;
    const sent = await (client.parts.around ?? callTransport)(client, request, { ...attempt, ms });
    if (!sent.answered) {
      if (sent.reading.ambiguous && !sent.reached) emit(attempt.job, attempt.key, { type: 'silence', origin: prepared.origin, number: attempt.number });
      return sent;
    }
    const answer = answerOf(sent.answered);
    // If the device slept, another context may have gone on with the record, and the 202 may report that context's work. Then the 202 counts as no
    // answer, and this driver stops before its next attempt. With `accepted: 'settle'`, any 202 means done.
    if (answer.status === 202 && settings.accepted !== 'settle' && sleptSince(client, startedAt) && (await attempt.stillMine?.()) === false)
      return { reading: NO_ANSWER, reached: true };
    const reading = read(prepared, sent.answered.response, answer, attempt);
    const askedMs = retryAfterMs(answer.header, clock.now());
    const refusal = reading.kind === 'refused' ? await client.platform.digest(`${answer.status}\n${answer.text}`) : undefined;
    return {
      reading,
      refusal,
      mayResend: sent.mayResend,
      result: resultOf(sent.answered),
      reached: true,
      retryAfterMs: askedMs ?? (reading.kind === 'in-progress' ? settings.dialect.inProgressAfterMs : undefined),
    };
  } catch (cause) {
    // A hook failed before the transport was called, or the answer could not be read.
    return { reading: failed, cause };
  }
}

/** Sends once, and never waits longer than `ms`, even if the transport ignores an abort. Rejects only if the platform throws while it judges an error. */
export function callTransport(client: Client, prepared: ReplayableRequest, attempt: Sending): Promise<TransportResult> {
  if (!attempt.leaves()) return Promise.resolve({ reading: NOT_SENT });
  const { stop, settings } = attempt.job;
  const controller = new AbortController();
  const { method, headers, body = null } = prepared;
  // A cache may hold the answer to an earlier key, or to an earlier poll. A Worker with an older compatibility date refuses this option.
  const uncached = method === 'GET' && !client.platform.isolated && { cache: 'no-store' };
  const init = { ...prepared.rest, ...uncached, method, headers: spreadable(headers), body, signal: controller.signal } as RequestInit;
  let response: Response | undefined;
  const unanswered = () => ({ reading: NO_ANSWER, reached: !!response });
  const { clock } = client.platform;
  const end = clock.now() + attempt.ms;
  let off = (): void => {};
  const exchange = async (): Promise<TransportResult> => {
    try {
      response = await client.transport.send(prepared.url, init);
      const patienceMs = Math.min(BODY_MS, Math.max(0, end - clock.now()) / 2);
      const answered = await readBody(response, settings.limits.bodyBytes, clock, patienceMs);
      // The rest of the body arrives after this attempt has ended. As with fetch, the signals of the callers who read it can abort it.
      if (answered.body === undefined) abortWith(controller, stop);
      return { answered, mayResend: client.transport.mayResend(init, attempt.carrier) };
    } catch (cause) {
      const neverSent = !controller.signal.aborted && !response && client.transport.neverSent(cause, init);
      return { ...(neverSent ? { reading: NOT_SENT } : unanswered()), cause };
    } finally {
      off();
    }
  };
  return new Promise((resolve, reject) => {
    const late = (): void => {
      controller.abort();
      resolve(unanswered());
    };
    off = after(clock, attempt.ms, [stop], () => {
      // If the device slept, or its clock was set, an answer that came meanwhile gets a moment to arrive here.
      if (sleptSince(client, end)) off = after(clock, THAW_MS, [stop], late);
      else late();
    });
    exchange().then(resolve, reject);
  });
}

/** Aborts the controller when `stop` aborts. It is a function of its own, so that `stop` keeps nothing else of the attempt in memory. */
const abortWith = (controller: AbortController, stop: StopSignal): void => stop.addEventListener('abort', () => controller.abort(stop.reason));

/** Reads an answer: the app's `verdict` hook first, then the dialect and the common rules. */
function read(prepared: ReplayableRequest, response: Response, answer: Answer, attempt: AttemptRequest): Reading {
  const { client, settings } = attempt.job;
  const { accepted, dialect } = settings;
  const { ambiguous } = attempt;
  if (/^\s*ignored\s*$/i.test(answer.header('idempotency-status') ?? answer.header('x-idempotency-status') ?? '')) {
    const where = endpointOf(prepared);
    keepRecent(client.registry.ignored, where, true, PLACES_MAX);
    emit(attempt.job, attempt.key, { type: 'diagnostic', code: 'key-ignored', where });
  }
  emit(attempt.job, attempt.key, { type: 'answered', origin: prepared.origin, answer, ambiguous, dialect });
  const hooked = settings.verdict && client.parts.hooks?.verdict(response, answer, attempt, false);
  if (hooked) return hooked;
  const { method, headers, json } = prepared;
  const sentJson = json || /json/i.test(headers.get('content-type') ?? '');
  const asked = {
    method,
    key: attempt.key,
    refusesHtml: refusesHtml(sentJson, headers.get('accept')),
    accepted,
    otherPayloads: attempt.otherPayloads,
  };
  return readAnswer(answer, asked, dialect, ambiguous);
}
