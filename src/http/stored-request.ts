/** Requests in the store, so that another context can send them again. */
import { type OnceRecord, readRecord, type StoredRequest } from '../core/record.js';
import type { Driver, Parts, Payload } from '../engine/client.js';
import { readStored } from '../engine/record-access.js';
import { base64Of, bytesOf, looksJson } from './bytes.js';
import { httpPayload } from './http-payload.js';

/**
 * Headers that are always stored, and never taken from another request. Without one of them, or with another one, the body would mean something else,
 * or a condition would be lost.
 */
const ITS_OWN = /^(accept|content-|digest|if-|repr-)/;

/**
 * What another context needs to send the request again; `undefined` for a body that can't be stored, and for a function given to `run`. No
 * header with credentials is in it unless the app listed it in `keep.headers`.
 */
export function toStore({ prepared }: Pick<Payload, 'prepared'>, listed: readonly string[]): StoredRequest | undefined {
  if (!prepared) return undefined;
  const { method, url, body, headers } = prepared;
  if (typeof body === 'object' && !ArrayBuffer.isView(body)) return undefined;
  const kept = [...headers].filter(([name]) => ITS_OWN.test(name) || listed.some((one) => one.toLowerCase() === name));
  const { mode, credentials, redirect } = prepared.rest;
  const how = { method, url, mode, credentials, redirect, headers: kept };
  return typeof body === 'object' ? { ...how, body: base64Of(body), base64: true } : { ...how, body };
}

/**
 * The payload of a stored request; `undefined` if none is stored. `others`: the headers of a call that brings a request of its own. They count here, too,
 * unless they are its own or stored ones replace them: one may say in which account the request takes effect.
 */
export function fromStore({ request, origin }: Pick<OnceRecord, 'request' | 'origin'>, others: Iterable<readonly [string, string]> = []): Payload | undefined {
  if (!request) return undefined;
  const { method, url, headers, body: text, base64, consent, ...rest } = request;
  const body = base64 && text !== undefined ? bytesOf(text) : text;
  return httpPayload({
    method,
    url,
    origin,
    headers: new Headers(Object.fromEntries([...[...others].filter(([name]) => !ITS_OWN.test(name)), ...headers])),
    body,
    json: looksJson(body ?? ''),
    rest: rest as RequestInit,
  });
}

const earlier = ({ record, job }: Driver): (readonly [string, Payload])[] | undefined =>
  record.earlier?.map(({ fingerprint, request }) => [fingerprint, fromStore({ ...record, request }, job.payload?.prepared?.headers) as Payload]);

/**
 * The same call for a second write. A full store may have room without the request, and so may one that fails twice. One that fails once gets the same
 * again. `undefined` if this call stores no request anyway, or if the failed write was committed: it must not take its own record for one that it found.
 */
const second: Parts['requests']['second'] = async (job, key, cause, inserted, isSecond) => {
  const { settings } = job;
  const { keep, background, required } = settings;
  const isFull = isSecond || (cause as { reason?: unknown } | undefined)?.reason === 'quota';
  if (!(keep.request || background) || !(isFull || required || !inserted)) return undefined;
  const stored = readRecord(await readStored(job).catch(() => undefined));
  if (stored?.random && stored.key === key) return undefined;
  if (!isFull) return job;
  return { ...job, settings: { ...settings, keep: { ...keep, request: false }, background: undefined } };
};

/** The part `requests`, which the features `requests` and `background` have in common. */
export const requestParts = { requests: { toStore, fromStore, earlier, second } };
