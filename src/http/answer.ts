/** An answer: reads its body, shows it to the rules, and makes copies of it. */
import type { Answer } from '../core/dialect.js';
import type { Result } from '../engine/result.js';
import { limit } from '../engine/wait.js';
import type { Clock } from '../ports.js';
import { jsonOf, looksJson, readUpTo } from './bytes.js';
import { textOf } from './native.js';
import type { Answered } from './transport-result.js';

/** Types whose readers use each part as it arrives, so there is no reason to wait for the end. */
const STREAMED = /event-?stream|ndjson|json-?(seq|l\b|lines|stream)|stream\+json|^multipart\/|^application\/(grpc|connect\+)|^(audio|video)\//i;

/** Types of which a part is useless to the caller and to the rules. */
const DOCUMENT = /json|xml|urlencoded/i;

/** How long to wait for the body of a 2xx that is not a document. Then the caller gets the answer while the body still arrives. */
export const BODY_MS = 1000;

/**
 * Reads a copy of the body, and rejects if it was cut, so that a truncated answer counts as no answer. Does not read streams and bodies
 * longer than `bodyBytes`. Waits only `patienceMs` for the body of a 2xx that is not a document: the status says that the work is done, and
 * sending again would not make the body come faster.
 */
export async function readBody(response: Response, bodyBytes: number, clock: Clock, patienceMs: number): Promise<Answered> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null) return { response, body: null, text: '' };
  if (Number(response.headers.get('content-length')) > bodyBytes || STREAMED.test(type)) return { response, text: '' };
  const isText = /^$|json|text|xml|script|urlencoded/i.test(type) && !/charset=(?!"?utf-?8)/i.test(type);
  // A copy of a Response of node-fetch stops at 128 kB unless the original is read as well. And an abort would throw where nobody can catch it.
  const piped = (response.body as { pipe?: unknown } | undefined)?.pipe;
  const copy = piped ? response : response.clone();
  // React Native has no streams.
  const stream = copy.body?.getReader && copy.body;
  const patience = stream && response.ok && !DOCUMENT.test(type) ? limit(clock, patienceMs, []) : undefined;
  let bytes: string | ArrayBuffer | undefined;
  try {
    bytes = stream ? (await readUpTo(stream, bodyBytes, patience?.over))?.buffer : await (isText ? copy.text() : copy.arrayBuffer());
  } finally {
    patience?.off();
  }
  if (bytes === undefined) return { response, text: '' };
  // JSON is always UTF-8 (RFC 8259, section 8.1). Text in another encoding keeps its ASCII, so that the rules do not take a page for an empty answer.
  const text = isText || /json|text/i.test(type) ? textOf(bytes) : '';
  // JSON was cut if more brackets open than close outside of its strings. The transport does not report every cut: a gateway may properly end a
  // message that its server broke off, and Node's fetch accepts compressed bytes without their end. Text with a replacement character before
  // its last place is in another encoding, where the bytes of a letter may look like brackets. At the last place it is a letter that was cut.
  const json = looksJson(text) ? jsonOf(text) : '';
  const broken = json === undefined ? text.replace(/"(\\?.)*?("|$)/gs, '') : '';
  if (broken.split(/[[{]/).length > broken.split(/[\]}]/).length && !/\ufffd./.test(text)) throw new TypeError('JSON was cut');
  // Keep what is not UTF-8 as bytes, whatever its type says. As text, it would give the next caller of the name other bytes.
  const whole = piped
    ? Object.defineProperty(new (response.constructor as typeof Response)(bytes, response), 'redirected', { value: response.redirected })
    : response;
  return { response: whole, body: !isText || /\ufffd/.test(text) ? bytes : text, text, json: json || undefined };
}

/** The answer as the rules see it. */
export function answerOf({ response, text, body, json = /^\s*[[{"]/.test(text) ? jsonOf(text) : undefined }: Answered): Answer {
  return {
    status: response.status,
    type: response.type ?? 'default',
    redirected: !!response.redirected,
    header: (name) => response.headers.get(name),
    text,
    unread: body === undefined,
    json,
  };
}

/** Status and headers of an answer. */
type Head = { readonly status: number; readonly statusText: string; readonly headers: Iterable<readonly [string, string]> };

/** Statuses for which a Response with a body can't be made. Below 200, none can be made at all. */
const BODILESS: readonly number[] = [204, 205, 304];

/** A Response; `undefined` if its constructor refuses what the server sent and fetch accepted. */
function tryResponse(body: string | ArrayBuffer | null, status: number, statusText: string, headers: HeadersInit): Response | undefined {
  try {
    return new Response(BODILESS.includes(status) ? null : body, { status, statusText, headers });
  } catch {
    return undefined;
  }
}

/** An answer's headers without those that this platform refuses. */
function allowed(headers: Iterable<readonly [string, string]>): Headers {
  const kept = new Headers();
  for (const [name, value] of headers) {
    try {
      kept.append(name, value);
    } catch {
      // Leave out a name or value that fetch accepts from a server, but not from code.
    }
  }
  return kept;
}

/** A new Response: without its status text or some headers if the platform refuses them; `undefined` if it refuses the status. */
export function makeResponse({ status, statusText, headers }: Head, body: string | ArrayBuffer | null): Response | undefined {
  return tryResponse(body, status, statusText, headers as HeadersInit) ?? tryResponse(body, status, '', allowed(headers));
}

/** A copy of the answer for a caller who joined or comes later; `undefined` if its body was not read, or if no copy can be made. */
export function replayResponse({ response, body }: Omit<Answered, 'text'> & Partial<Answered>): Response | undefined {
  const copy = body === undefined ? undefined : makeResponse(response, body);
  return copy && Object.defineProperty(copy, 'url', { value: response.url });
}

/** The result of a function given to `run` that returned no Response. */
export const valueResult = (value: unknown): Result => ({ value, response: undefined, ok: true, lasting: true, copy: () => value });

export const resultOf = ({ response, body }: Answered): Result => ({
  value: response,
  response,
  body,
  ok: response.ok,
  lasting: body !== undefined,
  copy: () => replayResponse({ response, body }) ?? (response.bodyUsed ? undefined : response.clone()),
});
