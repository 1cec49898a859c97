/** Polls the work behind the link of a 202. */

import { refuseArguments } from '../arguments.js';
import { atLeast, backoffMs } from '../core/backoff.js';
import { stop } from '../core/decide.js';
import type { Answer } from '../core/dialect.js';
import { replayed } from '../core/outcome.js';
import { hasOthers } from '../core/payloads.js';
import { type OnceRecord, seal } from '../core/record.js';
import { pastWindow } from '../core/retention.js';
import { retryAfterMs } from '../core/retry-after.js';
import { readPoll } from '../core/verdict.js';
import type { WorkState } from '../core/work-state.js';
import { isSamePerson } from '../engine/address.js';
import { awaitNetwork, checkBeforeAttempt, checkQuickly, pause } from '../engine/attempt-loop.js';
import type { AttemptRequest, Driver, Parts, Payload } from '../engine/client.js';
import { finish, settle, settlePolled } from '../engine/finish.js';
import type { Finished } from '../engine/in-flight.js';
import { emit } from '../engine/observe.js';
import { commit, storeTimeOf } from '../engine/record-access.js';
import type { Polled, Result } from '../engine/result.js';
import type { Stopped } from '../engine/stopped.js';
import { waitsUntil } from '../engine/wait.js';
import { answerOf, resultOf } from '../http/answer.js';
import { addHeaders } from '../http/headers-hook.js';
import { callTransport, httpPayload } from '../http/http-payload.js';
import type { ReplayableRequest } from '../http/request.js';
import { askVerdict } from '../http/verdict-hook.js';
import type { Feature } from '../option-types.js';
import type { Platform } from '../ports.js';

/**
 * Makes `accepted: 'poll'` possible: after a 202, polls its link until the work behind it ends (RFC 9110, section 15.3.3).
 *
 * @example
 * const once = createOnce({ use: [polling()], accepted: 'poll' });
 */
export const polling: () => Feature = (...given: unknown[]) => {
  refuseArguments('polling', given);
  return { parts: { poll, linked } satisfies Partial<Parts> };
};

/** A payload that is only polled, never sent. It has the method and the address of the request, by which a `dialect` function recognises the server. */
function linked({ link, origin, endpoint = `GET ${link}` }: OnceRecord): Payload | undefined {
  const [method = '', url = ''] = endpoint.split(' ');
  return link ? httpPayload({ method, url, origin, headers: new Headers(), body: undefined, rest: {} }) : undefined;
}

/** `earlier`: the 202 is the answer to a probe with this payload and its fingerprint. */
async function poll(drive: Driver, accepted: Result | undefined, earlier?: Parameters<Parts['poll']>[2]): Promise<Finished | undefined> {
  if (earlier) return pollProbed(drive, accepted, earlier);
  const lost = accepted ? drive.sameAmbiguous : false;
  // From here on the present payload counts as one that may have taken effect. Not if the 202 came earlier: it may have been about another payload.
  if (accepted) drive.sameAmbiguous = true;
  const marked = isMarked(drive, accepted);
  const { start } = drive;
  // If nobody sent the present payload before this call's only attempt, a 202 that is marked as a replay may be the answer to an earlier payload.
  const first = marked && drive.attempts === 1 && !start.sentBefore;
  const changed = first ? hasOthers(start) : start.changed;
  const ofEarlier = (first && changed && isOfEarlier(drive)) || (await hasUnsentRequest(drive));
  const end = await askAfter(drive, accepted, marked);
  if (!end || !('state' in end)) return end && finish(drive, { ...end, result: accepted });
  // The server has forgotten the work, and perhaps its key, too: no later call could learn more.
  const late = pastWindow(drive.record, drive.job.settings.limits, storeTimeOf(drive.job));
  const forgotten = late && /^4(04|10)$/.test(String(end.result?.response?.status));
  if (end.state === 'running' && forgotten) return finish(drive, { decision: stop('key-expired', true), result: accepted });
  return settlePolled(drive, end, { marked, changed, ofEarlier, lost });
}

/** Polls the work of an earlier payload. Does not store its link: the next call would take the work for that of the present payload. */
async function pollProbed(drive: Driver, accepted: Result | undefined, [fingerprint, probed]: readonly [string, Payload]): Promise<Finished | undefined> {
  const prepared = drive.job.payload?.prepared;
  // A relative link begins at the address that the probe went to, which may be another one.
  const link = probed.prepared && accepted?.response && linkOf(probed.prepared, drive.job.client.platform, accepted.response);
  if (!prepared || !link) return undefined;
  const end = await askUntilItEnds(drive, prepared, link);
  if ('decision' in end) return finish(drive, { ...end, result: accepted });
  if (end.state === 'done') return settle(drive, replayed('server'), end.result, { earlier: true, payloads: [fingerprint] });
  return end.state === 'failed' ? finish(drive, { decision: { do: 'anew' }, result: end.result }) : undefined;
}

/**
 * Whether a resume has found the stored request of an edited payload that was never sent, because its call only polled the work of an
 * earlier payload. If that one's request was stored, it is listed as `earlier`. If not, or only with a consent, compare the bytes: the
 * record has the digest of those that were sent.
 */
async function hasUnsentRequest({ job, record }: Driver): Promise<boolean> {
  const { requests } = job.client.parts;
  const stored = job.resumeOnly && requests?.fromStore(record)?.prepared;
  if (!stored) return false;
  // Requests are stored with text or bytes only. A client with a `fingerprint` stores only the first digits of their digest.
  const raw = await job.client.platform.digest((stored.body as string | undefined) ?? '');
  return record.earlier?.at(-1)?.fingerprint === record.payloads.at(-1) || !raw.startsWith(record.raw);
}

/** Whether the 202 has the replay marker. */
function isMarked({ job }: Driver, accepted: Result | undefined): boolean {
  if (!accepted?.response) return false;
  const { response, body } = accepted;
  return job.settings.dialect.replayed(answerOf({ response, body, text: typeof body === 'string' ? body : '' }));
}

/** Whether a 202 that is marked as a replay is the answer to an earlier payload, as a 200 would be (`decide`). */
function isOfEarlier({ job: { client, settings, payload }, record }: Driver): boolean {
  const { method = 'POST', body = null } = payload?.prepared ?? {};
  const resent = settings.repeat !== 'if-changed' && client.transport.mayResend({ method, body }, record.carrier);
  return !settings.dialect.answersMismatch && !resent;
}

/** Polls until the work ends, the time for waiting is over, or the drive must stop; `undefined` if there is no link. */
async function askAfter(drive: Driver, accepted: Result | undefined, marked: boolean): Promise<Polled | Stopped | undefined> {
  const { job, record } = drive;
  const { platform } = job.client;
  const prepared = job.payload?.prepared;
  // A function given to `run` has no request, so its Response has no link that could be polled.
  if (!prepared) return undefined;
  const link = record.link ?? (accepted?.response && linkOf(prepared, platform, accepted.response));
  if (!link) {
    emit(job, record.key, { type: 'diagnostic', code: 'poll-link', where: prepared.origin });
    return undefined;
  }
  // Store the link, so that nobody has to send the request again.
  if (!record.link) {
    // Without the marker, this key is new to the server, so no later key of a lost record can have been used.
    const madeAgain = marked ? record.madeAgain : undefined;
    const next = seal({ ...record, madeAgain, link, touchedAt: storeTimeOf(job) });
    if (await commit(job, record, () => next)) drive.record = next;
  }
  return askUntilItEnds(drive, prepared, link);
}

/** The link of a 202, if it is on the same origin: credentials must not go elsewhere, and no answer may direct a server's requests elsewhere. */
export function linkOf({ url, origin }: ReplayableRequest, { resolve }: Pick<Platform, 'resolve'>, { headers }: Response): string | undefined {
  const link = headers.get('operation-location') || headers.get('location');
  // An empty link, as from a template that lacks a value, would resolve to the address of the request itself.
  if (!link) return undefined;
  try {
    const target = resolve(link, url);
    return target.origin === origin ? target.url : undefined;
  } catch {
    return undefined;
  }
}

async function askUntilItEnds(drive: Driver, prepared: ReplayableRequest, link: string): Promise<Polled | Stopped> {
  const { job, start } = drive;
  const { key, carrier, firstSentAt = drive.record.createdAt } = drive.record;
  const { limits, retry } = job.settings;
  const { clock, randomness } = job.client.platform;
  const now = clock.now();
  // Use the monotonic clock, because somebody may set the wall clock back by hours meanwhile.
  const ends = clock.monotonic() + waitsUntil(job, now) - now;
  for (let number = 1; ; number++) {
    const ms = Math.min(limits.attemptMs, ends - clock.monotonic());
    const answer = await askOnce(
      prepared,
      { job, key, carrier, firstSentAt, number, ambiguous: true, resumed: start.resumed, otherPayloads: false, ms, leaves: () => !checkQuickly(drive) },
      link,
    );
    // An answer in another user's session says nothing about this user's work.
    const foreign = isSamePerson(job) ? undefined : checkQuickly(drive);
    if (foreign || answer.state !== 'running') return foreign ?? answer;
    const cutOff = answer.result ? undefined : await awaitNetwork(drive);
    if (cutOff) return cutOff;
    const restMs = atLeast(number, answer.retryAfterMs ?? backoffMs(retry, number, randomness.random()));
    if (clock.monotonic() + restMs >= ends) return answer;
    await pause(drive, restMs, 'in-progress');
    const stopped = await checkBeforeAttempt(drive);
    if (stopped) return clock.now() < job.deadline ? stopped : answer;
  }
}

async function askOnce(prepared: ReplayableRequest, attempt: AttemptRequest, link: string): Promise<Polled> {
  const { client } = attempt.job;
  const { clock } = client.platform;
  const headers = new Headers(prepared.headers);
  for (const name of [...headers.keys()]) if (/^(content|if)-/.test(name)) headers.delete(name);
  const begun = clock.now();
  const asking = { ...prepared, url: link, method: 'GET', body: undefined, headers };
  // If the `headers` hook fails, or what it gives can't be sent, the link is not polled this time, just as no attempt would leave.
  const request = await addHeaders(asking, attempt).catch(() => undefined);
  if (!request) return { state: 'running' };
  // Never more than `attempt.ms`: somebody may have set the clock back meanwhile.
  const ms = attempt.ms - Math.max(0, clock.now() - begun);
  const sent = await callTransport(client, request, { ...attempt, ms });
  if (!sent.answered) return { state: 'running' };
  const answer = answerOf(sent.answered);
  const state = read(sent.answered.response, answer, attempt);
  // Nobody reads the rest of this document, and a page has six connections to a server: an event stream would hold one of them. The body of
  // an app's own `fetch` may not be a web stream, as in node-fetch.
  if (state === 'running' && answer.unread) sent.answered.response.body?.cancel?.().catch(() => {});
  return {
    state,
    result: resultOf(sent.answered),
    retryAfterMs: retryAfterMs(answer.header, clock.now()),
  };
}

/** What the answer to a poll says about the work. If the app's dialect throws, the work counts as running. */
function read(response: Response, answer: Answer, attempt: AttemptRequest): WorkState {
  const { client, settings } = attempt.job;
  try {
    return readPoll(
      answer,
      { method: 'GET', key: attempt.key, refusesHtml: true, otherPayloads: false },
      settings.dialect,
      askVerdict(response, answer, attempt, true),
    );
  } catch (error) {
    client.platform.report(error);
    return 'running';
  }
}
