/** Makes clients: `createOnce` joins options, store, platform and engine. */
import { carryOf } from './core/carrier.js';
import { needsKey } from './core/methods.js';
import { encodeName, type OperationName, typeOf } from './core/name.js';
import { defaultStore } from './default-store.js';
import { addressOf } from './engine/address.js';
import { openChannel } from './engine/channel.js';
import type { Client, Parts } from './engine/client.js';
import { connectivityOf } from './engine/connectivity.js';
import { steadyForMs } from './engine/even-clock.js';
import { abortReason } from './engine/in-flight.js';
import { operate } from './engine/operate.js';
import { registry } from './engine/registry.js';
import { StopSource } from './engine/stop-signal.js';
import { jsonOf } from './http/bytes.js';
import { readRequest } from './http/read-request.js';
import { methodOf, type RequestInput, readInput } from './http/request.js';
import type { OnceInit, OnceOptions } from './option-types.js';
import { callSettings, clientSettings, type Settings } from './options.js';
import { detectPlatform } from './platform/detect.js';
import { randomnessOf } from './platform/shared.js';
import type { Platform } from './ports.js';
import { memoryBeside } from './stores/memory.js';
import { needs, wrong } from './texts/full.js';

/** fetch's `init`, plus the option `once`. */
export interface OnceRequestInit extends RequestInit {
  once?: OnceInit | undefined;
}

/** A client: a `fetch` that takes effect once, over one store. Made by `createOnce`. Everything else that it can do is a function that takes the client. */
export interface Once {
  /**
   * A `fetch` with the same arguments and the same promise. With a name in `once` it takes effect once. A POST or PATCH without a name
   * needs the feature `unnamed()`. With the feature `retrying()`, idempotent requests without a name are sent again. `once: false` makes
   * it a plain fetch.
   *
   * @throws OnceError if an answer would contradict the outcome, or if sending would be unsafe; TypeError on a wrong option
   * @example
   * const response = await once.fetch('/api/payments', { method: 'POST', body: JSON.stringify(cart), once: ['pay', cart.id] });
   */
  readonly fetch: (input: string | URL | Request, init?: OnceRequestInit) => Promise<Response>;
  /**
   * Gives what the functions of this package work on. The member's name is a string, not a symbol, so that the types of two copies of
   * the package are compatible. It is a function, so that a reactive proxy (Vue, MobX) around the client does not reach the inside. @internal
   */
  readonly '~oncefetch': () => unknown;
}

/** The inside of the client that a function of this package (`taker`) was given. @throws TypeError if that is not a client */
export function clientOf(once: Once, taker: string): Client {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(wrong(taker, 'client', typeOf(once)));
  return inside() as Client;
}

/**
 * Makes a client. One per app is enough; several with the same store share its records.
 *
 * @throws TypeError or RangeError that names the wrong option
 * @example
 * const once = createOnce({ namespace: () => session.userId });
 */
export function createOnce(options: OnceOptions = {}): Once {
  return createOn(detectPlatform(), options);
}

/** `createOnce` on a given platform, for tests, simulations and unusual runtimes. `shared`: what an extended client shares with the one it is made from. @internal */
export function createOn(bare: Platform, options: OnceOptions = {}, shared: Partial<Client> = {}): Once {
  const given = clientSettings(options);
  const parts: Partial<Parts> = Object.assign({}, ...(options.use ?? []).map((feature) => feature.parts));
  checkNeeds(given, parts);
  const platform = parts.platform?.(bare) ?? bare;
  const settings = { ...given, origins: parts.origins?.(given.origins, platform) };
  const store = settings.store ?? shared.store ?? defaultStore(platform);
  const connectivity = connectivityOf(platform, settings.connectivity);
  const client: Client = {
    settings,
    parts,
    made: { platform: bare, options },
    platform: { ...platform, connectivity, randomness: randomnessOf(platform.randomness, settings.randomUUID) },
    store,
    fallback: memoryBeside(store.scope, () => platform.clock.now()),
    transport: platform.transport(settings.fetch),
    registry: registry(),
    listeners: new Set(),
    log: {},
    closing: new StopSource(),
    sweeps: { left: 0, place: 0, restedAt: 0, damaged: 0 },
    session: { changes: 0 },
    ...shared,
  };
  // From now on this page can tell whether somebody sets the clock. A server starts that at its first call, because a framework that
  // renders in advance may not allow the time to be read (Next.js with `cacheComponents`).
  if (!platform.server) steadyForMs(platform.clock);
  openChannel(client);
  parts.made?.(client);
  return { fetch: (input, init) => callFetch(client, input, init), '~oncefetch': () => client };
}

/** Throws if an option needs a feature that was not given to `use`. */
function checkNeeds(asked: Settings, parts: Partial<Parts>): void {
  const need = (wanted: unknown, option: string, feature: string, part = feature): void => {
    if (wanted && !parts[part as keyof Parts]) throw new TypeError(needs(option, feature));
  };
  need(asked.accepted === 'poll', "accepted: 'poll'", 'polling', 'poll');
  need(asked.reconcile, 'reconcile', 'reconciling', 'ask');
  need(asked.background, 'background', 'background', 'begins');
  need(asked.fingerprint, 'fingerprint', 'hooks');
  need(asked.headers, 'headers', 'hooks');
  need(asked.verdict, 'verdict', 'hooks');
  need(typeof asked.key === 'function', 'key', 'hooks');
  need(asked.dialectOf, 'dialect', 'hooks');
  need(asked.keep.request, 'keep.request', 'requests');
  need(asked.keep.response === 'disk', "keep.response: 'disk'", 'answers');
}

/** The `fetch` of a client. `handle`: the name, if the call is made through a handle made by `operation`. @internal */
export async function callFetch(
  client: Client,
  input: string | URL | Request,
  givenInit: OnceRequestInit | null | undefined,
  handle?: OperationName,
): Promise<Response> {
  const init = givenInit ?? {};
  const { once, ...rest } = init;
  const send = () => (client.settings.fetch ?? globalThis.fetch)(input, once === undefined ? init : rest);
  const retried = (settings: Settings) => client.parts.retry?.(client, settings, { input, init }, send) ?? send();
  // Call `retried` for a plain fetch, too: it stops the retries of earlier calls to the same URL, which would undo this call.
  if (once === false && !handle) return retried(client.settings);
  const ownSettings = callSettings(client.settings, once);
  checkNeeds(ownSettings, client.parts);
  const method = methodOf(input, init);
  const idempotent = !needsKey(method);
  /** The call itself asks nothing of oncefetch. */
  const bare = once === undefined && !handle;
  const ownName = handle ?? (Array.isArray(once) ? once : (once as { operation?: OperationName } | undefined)?.operation);
  const ownLabel = ownName === undefined ? undefined : encodeName(ownName);
  // Options without a name, such as `onOutcome`, leave a POST the name that the client has for it.
  const nameOf = bare || !(idempotent || ownLabel || once === true) ? ownSettings.nameOf : undefined;
  const wantsNoKey = idempotent && once !== true && !ownLabel && !nameOf && ownSettings.key === undefined;
  if (wantsNoKey) return retried(ownSettings);
  let request: RequestInput;
  try {
    request = readInput(input, init, client.platform);
  } catch (error) {
    // Let fetch itself say what is wrong.
    if (bare && !nameOf && client.parts.unnamed) return send();
    throw error;
  }
  if (request.signal?.aborted) throw abortReason(request.signal);
  if (client.closing.aborted) throw new TypeError('once: this client is closed');
  // Stops the retry of an earlier call without a key to the same URL, which would undo this call.
  client.registry.latest.delete(request.url);
  const dialectSettings = client.parts.hooks?.dialect(ownSettings, request) ?? ownSettings;
  const { carrier, carry } = dialectSettings.dialect;
  // The key that the request already has, as far as that is known before the body is read: in a header or the query.
  const ownKey = carryOf(carrier, carry)?.find({ ...request, body: undefined });
  const settings = ownKey === undefined ? dialectSettings : { ...dialectSettings, key: ownKey };
  // In a service worker, a request that has a key already comes from a page, which drives the operation itself: page and worker would wait for each other.
  if (client.platform.relay && bare && ownKey !== undefined) return send();
  const name = nameOf?.({ method, url: request.url, json: jsonOf(request.body) });
  const label = ownLabel ?? (name && encodeName(name));
  // The answer would hide whether the request took effect.
  if ((label || !bare) && request.rest.mode === 'no-cors') throw new TypeError(wrong("mode 'no-cors'", 'no-cors'));
  if (label)
    return operate({
      client,
      settings,
      address: addressOf(client, label),
      read: () => readRequest(client, settings, request),
      signal: request.signal,
      request: request.request,
    }) as Promise<Response>;
  const plain = () => (idempotent ? retried(ownSettings) : send());
  if (bare && (name === false || idempotent)) return plain();
  if (!client.parts.unnamed) throw new TypeError(needs(`a ${method} without a name`, 'unnamed'));
  return (client.parts.unnamed(client, settings, request, once) as Promise<Response> | undefined) ?? plain();
}
