/** Prepares a request so that it can be sent any number of times with the same bytes. */
import { isInHeader } from '../core/carrier.js';
import { isObject, typeOf } from '../core/name.js';
import type { Digest, Platform } from '../ports.js';
import { wrong } from '../texts/full.js';
import { looksJson, readUpTo, viewOf } from './bytes.js';
import { refuseWrongOptions } from './fetch-options.js';
import { type Fields, multipart, steadyBoundary } from './multipart.js';
import { bufferOf, kindOf, textOf } from './native.js';

/** What fetch was called with. */
export interface Called {
  readonly input: string | URL | Request;
  readonly init: RequestInit;
}

/** The caller's request, read synchronously. */
export interface RequestInput {
  readonly method: string;
  readonly url: string;
  readonly origin: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly rest: RequestInit;
  readonly signal?: AbortSignal | undefined;
  /** The caller's own Request object, if there is one. */
  readonly request?: Request | undefined;
}

/** A body that gives the same bytes at every attempt. */
export type Bytes = string | Uint8Array<ArrayBuffer> | Blob | undefined;

export interface ReplayableRequest extends Omit<RequestInput, 'body'> {
  readonly body: Bytes;
  /** The body looks like JSON, whatever its header says. */
  readonly json?: boolean | undefined;
  /** The digest of a form's fields. */
  readonly form?: string | undefined;
}

/** The body can't be sent more than once. */
export class UnreplayableBody extends Error {}

/** Members of a Request other than URL, method, headers and body. */
const REST = ['mode', 'credentials', 'cache', 'redirect', 'referrer', 'referrerPolicy', 'integrity', 'keepalive'] as const;

export const isRequest = (input: unknown): input is Request => isObject(input) && 'headers' in input && 'url' in input;

/** The method of what fetch was called with. */
export const methodOf = (input: unknown, { method }: RequestInit): string => String(method ?? (input as Request | undefined)?.method ?? 'GET').toUpperCase();

/** Reads fetch's arguments. Throws a TypeError if they make a request that can't be sent. */
export function readInput(input: string | URL | Request, init: RequestInit & { readonly once?: unknown }, platform: Platform): RequestInput {
  const request = isRequest(input) ? input : undefined;
  const { method, headers, body, signal, once, ...own } = init;
  const rest: Record<string, unknown> = {};
  for (const name of REST) {
    // Members may be inherited: fetch takes a Request, too, in the place of `init`.
    const value: unknown = init[name] ?? request?.[name];
    // A request with the mode `navigate` can't be made by code.
    if (value !== undefined && value !== 'navigate') rest[name] = value;
  }
  const verb = methodOf(input, init);
  const bodiless = /^(GET|HEAD)$/.test(verb);
  const content = body ?? (bodiless ? undefined : request);
  if (request?.bodyUsed && body == null) throw new TypeError(wrong('the body of this Request', 'body-used'));
  if (bodiless && body != null) throw new TypeError(wrong(`a ${verb}`, 'no-body'));
  const place = platform.resolve(request ? request.url : String(input));
  refuseWrongOptions(own, verb, place);
  return {
    ...place,
    method: verb,
    headers: new Headers(headers ?? request?.headers),
    body: content,
    rest: { ...rest, ...own },
    signal: signal ?? (signal === null ? undefined : request?.signal),
    request,
  };
}

const REPLAYABLE = /^(URLSearchParams|Blob|File|ArrayBuffer|FormData)$/;

async function readable<T>(read: () => Promise<T>, form = false): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new UnreplayableBody(wrong('the body', form ? 'form-unread' : 'body-unread'), { cause });
  }
}

/** Whether this kind of body can be read more than once. A form of the package form-data is a stream, and so is any async iterable, which Node's fetch takes. */
export const isReplayable = (body: unknown): boolean =>
  typeof body === 'string' || isRequest(body) || ArrayBuffer.isView(body) || (REPLAYABLE.test(kindOf(body)) && !('pipe' in (body as object)));

/** Whether the request can take a key and its body can be sent more than once. If not, a call without a name is left to fetch. */
export function canCarryKey({ body, rest }: RequestInput): boolean {
  return rest.mode !== 'no-cors' && (body == null || isReplayable(body));
}

/**
 * Turns the body into bytes that stay the same. The boundary of a form is computed from its content, so that the same form has the
 * same bytes after a reload, and servers that compare bytes do not take it for another payload.
 */
export async function prepare(from: RequestInput, limit: number, digest: Digest): Promise<ReplayableRequest> {
  const { body, headers } = from;
  const tag = kindOf(body);
  const type = (value: string): void => {
    if (!headers.has('content-type')) headers.set('content-type', value);
  };
  let bytes: Bytes;
  let form = '';
  if (body == null || typeof body === 'string') bytes = body ?? undefined;
  else if (tag === 'URLSearchParams') {
    bytes = String(body);
    type('application/x-www-form-urlencoded;charset=UTF-8');
  } else if (tag === 'Blob' || tag === 'File') {
    bytes = body as Blob;
    // Set the type now: if a key goes into the body, the body becomes text, and the platform would call that "text/plain".
    if (bytes.type) type(bytes.type);
  } else if (ArrayBuffer.isView(body) || tag === 'ArrayBuffer') bytes = viewOf(body as ArrayBuffer).slice();
  else if (tag === 'FormData') {
    // Read the fields at once, as fetch does, because the caller may change the same form for its next call.
    const fields = await readable(async () => [...(body as FormData).entries()]);
    form = await digest(await readable(() => formText(fields, digest)));
    type(`multipart/form-data; boundary=${form}`);
    bytes = new Uint8Array(await multipart(fields, form));
  } else if (tag === 'ReadableStream') {
    bytes = await readable(() => readUpTo(body as ReadableStream<Uint8Array>, limit));
    if (!bytes) throw new UnreplayableBody(wrong('the body', 'body-length', `more than ${limit}`));
  } else if (isRequest(body)) {
    const given = headers.get('content-type') ?? '';
    const [, boundary] = /^multipart.*boundary="?([^";]+)/i.exec(given) ?? [];
    const content = new Uint8Array(await readable(() => body.arrayBuffer(), !!boundary));
    if (boundary) headers.set('content-type', given.replace(boundary, await steadyBoundary(content, boundary, digest)));
    if (content.length) bytes = content;
  } else throw new UnreplayableBody(wrong('body', 'body', typeOf(body)));
  // The platform sets the length itself. The caller's would be wrong if a key goes into the body.
  headers.delete('content-length');
  return { ...from, body: bytes, form };
}

/**
 * The headers as an object. Apps and libraries wrap fetch with `{ ...init, headers: { ...init.headers, 'X-CSRF-Token': token } }`: nothing of a
 * Headers would be left, and the request would go out without its key. Names are spelled as apps spell them, so that theirs replace ours.
 */
export const spreadable = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].map(([name, value]) => [name.replace(/\b./g, (letter) => letter.toUpperCase()), value]));

/** The body as text or bytes, of which a Blob must be read. */
const plainOf = async (body: Bytes): Promise<string | Uint8Array | undefined> =>
  typeof body === 'object' && !ArrayBuffer.isView(body) ? new Uint8Array(await readable(() => bufferOf(body))) : body;

/** A copy of the request for a key to be put into. Its body is text unless the key goes into a header. */
export async function wireOf<T extends ReplayableRequest>(prepared: T, carrier: string): Promise<T> {
  const { body, headers } = prepared;
  return { ...prepared, body: isInHeader(carrier) || !body ? body : textOf((await plainOf(body)) as string), headers: new Headers(headers) };
}

/** The fields of a form as text, with digests of its files, sorted by name. Fields of the same name keep their order, which is part of the content. */
async function formText(form: Fields, digest: Digest): Promise<string> {
  const fields: [string, string][] = [];
  for (const [name, value] of form) {
    const field = typeof value === 'string' ? [name, value] : [name, value.name, value.type, await digest(new Uint8Array(await value.arrayBuffer()))];
    fields.push([JSON.stringify([name]), JSON.stringify(field)]);
  }
  return fields
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .map(([, text]) => text)
    .join('\n');
}

/** How many hex digits of a digest are kept (16 bits): enough to notice that bytes differ, too few to find out the bytes. */
const RAW_HINT = 4;

/**
 * `raw`: the digest of the body's bytes. `fingerprint`: a digest of method, URL and the body's content, whatever the body's type in
 * JavaScript. `printOf`: calls the app's `fingerprint` hook, if there is one; `undefined` from it means that the bytes count.
 */
export async function fingerprint(
  prepared: ReplayableRequest,
  digest: Digest,
  printOf: ((body: string | Uint8Array, json: boolean) => Promise<string | undefined>) | false | undefined,
): Promise<{ readonly raw: string; readonly fingerprint: string; readonly json: boolean }> {
  const { method, url, form } = prepared;
  const plain = (await plainOf(prepared.body)) ?? '';
  const raw = await digest(plain);
  const json = looksJson(plain);
  const print = printOf ? await printOf(plain, json) : undefined;
  const content = print === undefined ? form || raw : await digest(print);
  // A hook may leave a card number out. Then the stored digest must be too short to find the number by trying all of them.
  return { raw: printOf ? raw.slice(0, RAW_HINT) : raw, fingerprint: await digest(`${method}\n${url}\n${content}`), json };
}
