/** Reads the request of a call, once. */
import { carryOf, isInHeader } from '../core/carrier.js';
import type { Client, PreparedCall } from '../engine/client.js';
import { within } from '../engine/wait.js';
import type { Settings } from '../options.js';
import { wrong } from '../texts/full.js';
import { httpPayload } from './http-payload.js';
import { fingerprint, prepare, type ReplayableRequest, type RequestInput, UnreplayableBody, wireOf } from './request.js';

/** Reads the request: its body becomes bytes, once. */
export function readRequest(client: Client, settings: Settings, request: RequestInput): Promise<PreparedCall> {
  const { clock, digest } = client.platform;
  let late = (): Error => new UnreplayableBody('the request could not be read in time');
  const reading = async (): Promise<PreparedCall> => {
    const prepared = await prepare(request, settings.limits.bodyBytes, digest);
    // Every request can take a header, and a key that is in one already is among the settings.
    const key = isInHeader(settings.dialect.carrier) ? undefined : await carriedKey(settings, prepared);
    late = () => new TypeError('once: fingerprint did not answer in time');
    // Take the fingerprint before a key is put into the body.
    const { hooks } = client.parts;
    const printOf = settings.fingerprint && hooks && ((body: string | Uint8Array, json: boolean) => hooks.fingerprint(settings, prepared, body, json));
    const { json, ...prints } = await fingerprint(prepared, digest, printOf);
    return { payload: httpPayload({ ...prepared, json }), ...prints, key };
  };
  return within(clock, settings.limits.totalMs, reading(), () => late());
}

/** The key that the caller's request has already in its body or URL, if any. Throws a TypeError if the request has no place for a key. */
async function carriedKey({ dialect: { carrier, carry: other, name } }: Settings, prepared: ReplayableRequest): Promise<string | undefined> {
  const carry = carryOf(carrier, other);
  const wire = await wireOf(prepared, carrier);
  const key = carry?.find(wire);
  if (carrier && key === undefined && !carry?.put(wire, 'x', 0)) throw new TypeError(wrong(`dialect ${name}: ${carrier}`, 'no-place'));
  return key;
}
