/** createOnce: joins options, store, platform and engine. */
import { needsKey } from './core/methods.js';
import { type OperationName, typeOf } from './core/name.js';
import { defaultStore } from './default-store.js';
import { addressOf } from './engine/address.js';
import { openChannel } from './engine/channel.js';
import type { Client, Parts } from './engine/client.js';
import { Closing } from './engine/closing.js';
import { connectivityOf } from './engine/connectivity.js';
import { evenForMs } from './engine/even-clock.js';
import { abortReason } from './engine/in-flight.js';
import { operate, readRequest } from './engine/operate.js';
import { registry } from './engine/registry.js';
import { jsonOf } from './http/bytes.js';
import { bearsKey, isRequest, type RequestInput, readInput, refuseHidden } from './http/request.js';
import type { OnceInit, OnceOptions } from './option-types.js';
import { callSettings, clientSettings, partsOf, type Settings, withDialect } from './options.js';
import { detectPlatform } from './platform/detect.js';
import { randomnessOf } from './platform/shared.js';
import type { Platform } from './ports.js';
import { memoryBeside } from './stores/memory.js';
import { needs, wrong } from './texts/full.js';

/** fetch's `init`, with `once`. */
export interface OnceRequestInit extends RequestInit {
  once?: OnceInit | undefined;
}

/** A client: a `fetch` that takes effect once, over one store. Made by `createOnce`; whatever else it can do is a function that takes it. */
export interface Once {
  /**
   * A `fetch`: same arguments, same promise. With a name in `once` it takes effect once; a POST or PATCH without one
   * needs the feature `unnamed()`; what HTTP calls idempotent is sent again with the feature `retrying()`; `once: false` is the plain fetch.
   *
   * @throws OnceError where the answer would be a lie, or sending would be unsafe; TypeError on a wrong option
   * @example
   * const response = await once.fetch('/api/payments', { method: 'POST', body: JSON.stringify(cart), once: ['pay', cart.id] });
   */
  readonly fetch: (input: string | URL | Request, init?: OnceRequestInit) => Promise<Response>;
  /**
   * Gives what the functions of this package work on. The name is a string, so that the types of two copies of the package agree;
   * it is a function, so that a reactive proxy (Vue, MobX) around the client reaches no further. @internal
   */
  readonly '~oncefetch': () => unknown;
}

/** The client that a function of this package is given. @throws TypeError where it is something else */
export function clientOf(once: Once, taker: string): Client {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(wrong(taker, 'client', typeOf(once)));
  return inside() as Client;
}

/**
 * Makes a client. One per app is enough; several share what they store.
 *
 * @throws TypeError or RangeError that names the wrong option
 * @example
 * const once = createOnce({ namespace: () => session.userId });
 */
export function createOnce(options: OnceOptions = {}): Once {
  return createOn(detectPlatform(), options);
}

/** `createOnce` on a platform of the caller's: tests, simulations, unusual runtimes. `from`: what it is extended from. @internal */
export function createOn(bare: Platform, options: OnceOptions = {}, from?: Client): Once {
  const given = clientSettings(options);
  const parts: Partial<Parts> = partsOf(options.use);
  checkNeeds(given, parts);
  const platform = parts.platform?.(bare) ?? bare;
  const settings = { ...given, origins: parts.origins?.(given.origins, platform) };
  const store = settings.store ?? from?.store ?? defaultStore(platform);
  const connectivity = connectivityOf(platform, settings.connectivity);
  const client: Client = {
    settings,
    parts,
    made: { platform: bare, options },
    platform: { ...platform, connectivity, randomness: randomnessOf(platform.randomness, settings.randomUUID) },
    store,
    ownsStore: settings.store !== undefined && settings.store !== from?.store,
    extensions: undefined,
    fallback: from?.store === store ? from.fallback : memoryBeside(store.scope, () => platform.clock.now()),
    transport: platform.transport(settings.fetch),
    registry: from?.registry ?? registry(),
    listeners: new Set(),
    log: {},
    withDialect,
    closing: new Closing(),
    sweeps: { left: 0, place: 0, restedAt: 0, damaged: 0 },
    ns: undefined,
    session: from && from.settings.namespace === settings.namespace ? from.session : { seen: undefined, changes: 0 },
    owner: undefined,
  };
  // From now on this page knows whether somebody sets the clock. A server looks at its first call: while a framework renders in advance,
  // it may refuse whoever asks for the time (Next.js with `cacheComponents`).
  if (!platform.server) evenForMs(platform.clock);
  openChannel(client);
  parts.made?.(client);
  return { fetch: (input, init) => callFetch(client, input, init), '~oncefetch': () => client };
}

/** Refuses at once what needs a feature that is not there. */
function checkNeeds({ accepted, reconcile, background }: Settings, parts: Partial<Parts>): void {
  if (accepted === 'poll' && !parts.poll) throw new TypeError(needs("accepted: 'poll'", 'polling'));
  if (background && !parts.begins) throw new TypeError(needs('background', 'background'));
  if (reconcile && !parts.ask) throw new TypeError(needs('reconcile', 'reconciling'));
}

/** `handle`: the name, where the caller has fixed it. @internal */
export async function callFetch(
  client: Client,
  input: string | URL | Request,
  asked: OnceRequestInit | null | undefined,
  handle?: OperationName,
): Promise<Response> {
  const init = asked ?? {};
  const { once, ...rest } = init;
  const send = () => (client.settings.fetch ?? globalThis.fetch)(input, 'once' in init ? rest : init);
  const retried = (settings: Settings) => client.parts.retry?.(client, settings, { input, init }, send) ?? send();
  // What waits to be sent there again would undo this call, too.
  if (once === false && !handle) return retried(client.settings);
  const own = callSettings(client.settings, once);
  if (handle && own.operation) throw new TypeError(wrong('this operation', 'name-given', typeOf(own.operation)));
  checkNeeds(own, client.parts);
  const method = (init.method ?? (isRequest(input) ? input.method : 'GET')).toUpperCase();
  const idempotent = !needsKey(method);
  const nameOf = once === undefined ? own.nameOf : undefined;
  const bare = once !== true && !handle && !own.operation && own.key === undefined;
  if (idempotent && bare && !nameOf) return retried(own);
  let request: RequestInput;
  try {
    request = readInput(input, init, client.platform);
  } catch (error) {
    // Where nothing of ours is asked for, fetch says itself what is wrong.
    if (once === undefined && !handle && !nameOf && (idempotent || client.parts.unnamed)) return send();
    throw error;
  }
  if (request.signal?.aborted) throw abortReason(request.signal);
  if (client.closing.aborted) throw new TypeError('once: this client is closed');
  // What waits to be sent there again without a key would undo this call.
  client.registry.latest.delete(request.url);
  const given = handle ?? own.operation ?? nameOf?.({ method: request.method, url: request.url, json: jsonOf(request.body) });
  const settings = withDialect(own, request);
  if (given || once !== undefined) refuseHidden(request);
  // A request that bears a page's key is that page's: each would wait for the other.
  if (client.platform.relay && once === undefined && !handle && bearsKey(settings.dialect.carrier, request)) return send();
  if (given)
    return operate({
      client,
      settings,
      address: addressOf(client, given),
      read: () => readRequest(client, settings, request),
      signal: request.signal,
      request: request.request,
    }) as Promise<Response>;
  const plain = () => (idempotent ? retried(own) : send());
  if (given === false || (idempotent && once === undefined)) return plain();
  if (!client.parts.unnamed) throw new TypeError(needs(`a ${method} without a name`, 'unnamed'));
  const by = once === undefined ? undefined : once === true ? 'content' : 'call';
  return (client.parts.unnamed(client, settings, request, by) as Promise<Response> | undefined) ?? plain();
}
