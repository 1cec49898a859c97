/** Retries requests without a name whose methods HTTP calls idempotent: GET, HEAD, OPTIONS, PUT and DELETE. */

import pRetry from 'p-retry';
import { refuseArguments } from '../arguments.js';
import { atLeast, backoffMs } from '../core/backoff.js';
import { isIdempotent, isSafe } from '../core/methods.js';
import { isObject } from '../core/name.js';
import { retryAfterMs } from '../core/retry-after.js';
import { worthRepeating } from '../core/verdict.js';
import { namespaceNow } from '../engine/address.js';
import type { Client, Parts } from '../engine/client.js';
import { limit } from '../engine/wait.js';
import { viewOf } from '../http/bytes.js';
import { kindOf } from '../http/native.js';
import { type Outline, outline } from '../http/outline.js';
import { isRequest } from '../http/request.js';
import type { OnceRequestInit } from '../once.js';
import type { Feature } from '../option-types.js';
import type { Settings } from '../options.js';

/**
 * Sends idempotent requests without a name again after a network error or a transient answer, within `limits.attempts` and
 * `limits.totalMs` (RFC 9110, section 9.2.2), but not after another user has logged in. Without this feature they are sent once,
 * as with `fetch`. A single attempt has no time limit: give a `signal`.
 *
 * @example
 * const once = createOnce({ use: [retrying()] });
 */
export const retrying: () => Feature = (...given: unknown[]) => {
  refuseArguments('retrying', given);
  return { parts: { retry } satisfies Partial<Parts> };
};

const retry: Parts['retry'] = (client, settings, { input, init }, send) => {
  const { latest } = client.registry;
  const { once, ...rest } = init as OnceRequestInit;
  if (once !== false) {
    const kept = keptInit(rest, init);
    const url = isRequest(input) ? input : String(input);
    const call = outline(client.platform, url, kept);
    // A relative address means another place once a router has changed the page's own address, so note the place now. For other addresses, save the
    // time that resolving takes.
    const place = isRequest(url) || /^(\w+:|\/)/.test(url) ? undefined : call.place();
    const sendKept = () => (client.settings.fetch ?? globalThis.fetch)(place === undefined || call.place() === place ? url : place, kept);
    // The first attempt passes on the caller's own arguments, which fetch reads at once. It sends the copy if the body is one that the caller may
    // change (a form, bytes), or if copying has used up an iterator of headers.
    const first = kept.body === init.body && !('next' in Object(init.headers)) ? send : sendKept;
    return sendAgain(client, settings, call, (number) => (number === 1 ? first() : sendKept()));
  }
  // `once: false`: the request is sent once, as it is. Stop the retries of an earlier PUT to the same URL, which would undo it.
  if (latest.size) {
    const { method, place } = outline(client.platform, input, init);
    if (!isSafe(method)) latest.delete(place());
  }
  return send();
};

/**
 * A copy of the options for later attempts, because the caller may reuse its objects for another call meanwhile, and a GET could become a
 * POST. A Request never changes, so it needs no copy. Options may be inherited, so the copy has the same prototype.
 */
const keptInit = (rest: RequestInit, init: RequestInit): RequestInit =>
  !isObject(init) || isRequest(init)
    ? init
    : Object.setPrototypeOf({ ...rest, headers: copyOfHeaders(init.headers), body: copyOf(init.body) }, Object.getPrototypeOf(init));

/** A copy of the headers. An iterator can be read only once. */
function copyOfHeaders(headers: RequestInit['headers']): RequestInit['headers'] {
  if (!isObject(headers)) return headers;
  // Keep the class of the caller's headers, because another implementation's fetch may know only its own. But make plain Headers of a subclass,
  // whose constructor may take something else, as that of Next.js does.
  if ('append' in headers) return new (headers instanceof Headers ? Headers : (headers.constructor as typeof Headers))(headers);
  return Symbol.iterator in headers ? [...headers] : { ...headers };
}

/** A copy of a body that the caller may change before it is sent again, such as a form; any other body as it is. */
function copyOf(body: RequestInit['body']): RequestInit['body'] {
  const kind = kindOf(body);
  if (kind === 'URLSearchParams') return new URLSearchParams(String(body));
  if (ArrayBuffer.isView(body) || kind === 'ArrayBuffer') return viewOf(body as ArrayBuffer).slice();
  // The fields of React Native's own FormData can't be read.
  if (kind !== 'FormData' || !('entries' in (body as FormData))) return body;
  // Keep the class of the caller's form: the platform's own FormData would convert a file of another implementation to text.
  const copy = new ((body as FormData).constructor as typeof FormData)();
  for (const [name, value] of (body as FormData).entries()) copy.append(name, value as string);
  return copy;
}

/** Sends the request unchanged, and again after a network error or a transient answer. `send` gets the number of the attempt, from 1. */
export async function sendAgain(client: Client, settings: Settings, call: Outline, send: (attempt: number) => Promise<Response>): Promise<Response> {
  const { clock, randomness } = client.platform;
  const { method, replayable, signal } = call;
  const latest = client.registry.latest;
  const user = namespaceNow(client);
  const place = isSafe(method) ? undefined : call.place();
  const turn = Symbol(place);
  if (place !== undefined) latest.set(place, turn);
  const { totalMs } = settings.limits;
  const deadline = clock.now() + totalMs;
  // A late retry of a PUT or DELETE must not undo what a later call to the same URL wrote. If the device slept past the deadline, others may have
  // written there, too, on other devices. A late GET does no harm.
  const overtaken = (): boolean => place !== undefined && (latest.get(place) !== turn || clock.now() >= deadline);
  // If this is not an AbortSignal, fetch refuses it.
  const stops = signal?.addEventListener ? [signal, client.closing] : [client.closing];
  let aborted = false;
  /** Waits before the next attempt; `false` if there must be none. */
  const waited = async ({ answer }: Failed, tries: number): Promise<boolean> => {
    const askedMs = answer && retryAfterMs((name) => answer.headers.get(name), clock.now());
    const ms = askedMs === undefined ? backoffMs(settings.retry, tries, randomness.random()) : atLeast(tries, askedMs);
    // `ms` alone counts, too: somebody may have set the clock back by hours, which moves the deadline.
    if (ms >= totalMs || clock.now() + ms >= deadline || signal?.aborted || overtaken() || !(answer || call.sendable())) return false;
    await limit(clock, ms, stops).over;
    aborted = signal?.aborted === true;
    // In another user's session, the retry would write the first user's data into the other's account, or read the other's data.
    if (stops.some(({ aborted }) => aborted) || overtaken() || namespaceNow(client) !== user) return false;
    // The body of an answer of node-fetch is not a web stream.
    void answer?.body?.cancel?.().catch(() => {});
    return true;
  };
  try {
    return await pRetry((number) => attempt(() => send(number)), {
      retries: isIdempotent(method) && replayable ? settings.limits.attempts - 1 : 0,
      // p-retry itself does not wait: `waited` does, by this client's clock, and an abort ends it.
      minTimeout: 0,
      shouldRetry: ({ error, attemptNumber }) => waited(error as Failed, attemptNumber),
    });
  } catch (failed) {
    if (!(failed instanceof Failed)) throw failed;
    const { answer, error } = failed;
    if (answer) return answer;
    throw aborted ? (signal?.reason ?? error) : error;
  } finally {
    if (place !== undefined && latest.get(place) === turn) latest.delete(place);
  }
}

/** A failed attempt that may be made again. It is an error class of our own, because p-retry takes some TypeErrors for bugs of the program. */
class Failed extends Error {
  readonly answer: Response | undefined;
  readonly error: unknown;

  constructor(answer: Response | undefined, error?: unknown) {
    super();
    this.answer = answer;
    this.error = error;
  }
}

async function attempt(send: () => Promise<Response>): Promise<Response> {
  let answer: Response;
  try {
    answer = await send();
  } catch (error) {
    throw new Failed(undefined, error);
  }
  if (worthRepeating(answer.status)) throw new Failed(answer);
  return answer;
}
