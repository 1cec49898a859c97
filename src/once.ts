/** createOnce: joins options, store, platform and engine. */
import { encodeName, namePrefix, type OperationName, typeOf } from './core/name.js';
import type { Outcome } from './core/outcome.js';
import type { Verdict } from './core/verdict.js';
import { defaultStore } from './default-store.js';
import { jsonOf } from './engine/bytes.js';
import { clearAll } from './engine/clear.js';
import type { Client } from './engine/client.js';
import { closeClient, Extensions } from './engine/closing.js';
import { abortReason } from './engine/flight.js';
import { Handle, type Operation } from './engine/handle.js';
import { listPending } from './engine/listing.js';
import { type OnceEvent, type PendingOperation, watch } from './engine/observe.js';
import { operate, type Read, readRequest } from './engine/operate.js';
import { namespaceNow, namespaceOf, placeOf } from './engine/place.js';
import { outline, sendPlain } from './engine/plain.js';
import { canBear, type Draft, draft, refuseHidden } from './engine/prepared.js';
import { look, registry } from './engine/registry.js';
import { parseResult } from './engine/result-schema.js';
import { moveAll, type Resumed, resumeAll } from './engine/resume.js';
import { type Attempt, running } from './engine/running.js';
import { bearsKey, mayGo, operateByContent, operateUnnamed, wantsKey } from './engine/unnamed.js';
import type { Json, OnceInit, OnceOptions, RunEnd, RunOptions } from './option-types.js';
import { callSettings, clientSettings, extendOptions, runSettings, withDialect } from './options.js';
import { checkOrigins } from './origins.js';
import { detectPlatform } from './platform/detect.js';
import { randomnessOf } from './platform/shared.js';
import type { Platform } from './ports.js';
import { memoryBeside } from './stores/memory.js';

/** fetch's `init`, with `once`. */
export interface OnceRequestInit extends RequestInit {
  once?: OnceInit | undefined;
}

/** A client: `fetch` and `run` that take effect once, over one store. Made by `createOnce`. */
export interface Once {
  /**
   * A `fetch`: same arguments, same promise. With a name in `once` it takes effect once; a POST or PATCH without one gets a
   * key over its own attempts; what HTTP calls idempotent is retried; `once: false` is the plain fetch.
   *
   * @throws OnceError where the answer would be a lie, or sending would be unsafe; TypeError on a wrong option
   * @example
   * const response = await once.fetch('/api/payments', { method: 'POST', body: JSON.stringify(cart), once: ['pay', cart.id] });
   */
  readonly fetch: (input: string | URL | Request, init?: OnceRequestInit) => Promise<Response>;
  /**
   * The same life for any async function: a payment provider's SDK, a message handler. Once it is done it never runs
   * again; after a crash it runs again with the same key. A Response that the function gives is read as `fetch` reads its
   * answers: a 503 is tried again, a 4xx is a refusal, with which `run` resolves; the next call gets it as a Response.
   *
   * @throws the effect's own error if `verdict` calls it rejected; OnceError as `fetch` does, and ERR_ONCE_ALREADY_DONE where
   * only `reconcile` knows that it is done
   * @example
   * const intent = await once.run(['charge', order.id], ({ key }) => stripe.paymentIntents.create(params, { idempotencyKey: key }));
   */
  run<T>(operation: OperationName, effect: (attempt: Attempt) => T | PromiseLike<T>, options?: RunOptions<T>): Promise<T>;
  /** A handle for one operation. Throws a TypeError on a wrong name. */
  operation(name: OperationName): Operation;
  /** Operations that have not settled, ordered by name; `Meta` is what your calls give as `meta`. @default limit 100 */
  pending<Meta = Json>(options?: {
    prefix?: OperationName | undefined;
    limit?: number | undefined;
    after?: string | undefined;
  }): Promise<readonly PendingOperation<Meta>[]>;
  /**
   * Goes on with what is pending, a few at a time, each under its own key. Names that begin differently take turns, so that
   * a backlog of one kind does not hold up the others. Nothing is resumed by itself.
   *
   * @default concurrency 4
   * @example
   * for await (const { name, outcome } of once.resume({ prefix: ['pay'] })) show(name, outcome.effect);
   */
  resume(options?: { prefix?: OperationName | undefined; concurrency?: number | undefined; signal?: AbortSignal | undefined }): AsyncIterable<Resumed>;
  /**
   * Brings a guest's unsettled operations, keys included, into the present namespace. Await it in each page of the user before
   * anything is pressed there: an earlier page may have been closed in the middle of it.
   */
  move(from: string): Promise<void>;
  /** Calls back on every event; the result unsubscribes. */
  subscribe(listener: (event: OnceEvent) => void, options?: { prefix?: OperationName | undefined; signal?: AbortSignal | undefined }): () => void;
  /** Calls back when a screen should look again: something began or ended, in another tab too, or somebody else is here. The result unsubscribes. */
  watch(listener: () => void): () => void;
  /** Who is here now, as `namespace` says; `undefined` before anybody has logged in, `''` without that option. */
  namespace(): string | undefined;
  /** Asks who is here and what is stored: every mounted screen looks again at once. For the moment after a log-in or log-out. */
  refresh(): void;
  /** Other options over the same store, table of operations and claims. It is closed with this client, which may go on when it is. */
  extend(options: Partial<OnceOptions>): Once;
  /**
   * For log-out: removes answers, stored requests, `meta` and settled records, but keeps the keys of unsettled operations
   * under their namespace, and returns those. `unsettled: 'forget'` drops them too: each may take effect a second time.
   */
  clear(options?: { unsettled?: 'keep' | 'forget' | undefined }): Promise<{ readonly kept: readonly PendingOperation[] }>;
  /**
   * No new attempts; waits are cut; attempts under way may end within `limits.attemptMs`. The same for clients that were
   * extended from this one. Then the store is closed by the client that it was given to.
   */
  close(): Promise<void>;
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

/** `createOnce` on a platform of the caller's: tests, simulations, unusual runtimes. @internal */
export function createOn(platform: Platform, options: OnceOptions = {}, from?: Client): Once {
  const given = clientSettings(options);
  const settings = { ...given, origins: checkOrigins(given.origins, platform) };
  const store = settings.store ?? from?.store ?? defaultStore(platform);
  if (settings.required && settings.store?.survives === 'context' && !settings.store.ready)
    throw new TypeError(`once: durability 'required' needs a store that outlives the process, got ${settings.store.kind}`);
  const connectivity = settings.connectivity ?? platform.connectivity;
  const client: Client = {
    settings,
    platform: { ...platform, connectivity, randomness: randomnessOf(platform.randomness, settings.randomUUID) },
    store,
    ownsStore: settings.store !== undefined && settings.store !== from?.store,
    extensions: new Extensions(),
    fallback: memoryBeside(store.scope),
    transport: platform.transport(settings.fetch),
    registry: registry(),
    listeners: new Set(),
    withDialect,
    closing: new AbortController(),
    settles: 0,
    sweptAt: Number.NEGATIVE_INFINITY,
    damaged: 0,
    ns: undefined,
    seen: undefined,
    owner: undefined,
  };
  from?.extensions.add(client);
  if (from?.closing.signal.aborted) client.closing.abort();
  return face(client, platform, options);
}

function face(client: Client, platform: Platform, options: OnceOptions): Once {
  const { listeners } = client;
  const call = (input: string | URL | Request, init: OnceRequestInit | null | undefined, name?: OperationName) => callFetch(client, input, init, name);
  const run: Once['run'] = (name, effect, options = {}) => runOnce(client, name, effect, options);
  return {
    fetch: (input, init) => call(input, init),
    run,
    operation(name) {
      encodeName(name);
      const own = Object.freeze([...name]);
      return new Handle(
        client,
        own,
        (input, init) => call(input, init, own),
        (effect, options) => run(own, effect, options),
      );
    },
    pending: async <Meta>(query = {}) => (await listPending(client, namespaceOf(client), query)) as readonly PendingOperation<Meta>[],
    resume: (query = {}) => resumeAll(client, namespaceOf(client), query),
    move: async (from) => moveAll(client, from, namespaceOf(client)),
    subscribe(listener, { prefix, signal } = {}) {
      if (typeof listener !== 'function') throw new TypeError(`once: subscribe takes a function, got ${typeof listener}`);
      const entry = { hears: listener, begins: prefix?.length ? namePrefix(prefix).begins : undefined };
      const off = (): void => void listeners.delete(entry);
      if (!signal?.aborted) listeners.add(entry);
      signal?.addEventListener('abort', off, { once: true });
      return off;
    },
    watch(listener) {
      if (typeof listener !== 'function') throw new TypeError(`once: watch takes a function, got ${typeof listener}`);
      return watch(client, () => listener());
    },
    namespace: () => namespaceNow(client),
    refresh() {
      namespaceNow(client);
      look(client.registry, true);
    },
    extend: (more) => createOn(platform, extendOptions(options, more), client),
    clear: async ({ unsettled = 'keep' } = {}) => ({ kept: await clearAll(client, namespaceOf(client), unsettled === 'forget') }),
    close: () => closeClient(client),
  };
}

async function callFetch(client: Client, input: string | URL | Request, asked: OnceRequestInit | null | undefined, handle?: OperationName): Promise<Response> {
  const init = asked ?? {};
  const { once, ...rest } = init;
  const send = () => (client.settings.fetch ?? globalThis.fetch)(input, 'once' in init ? rest : init);
  if (once === false && !handle) return send();
  const own = callSettings(client.settings, once);
  if (handle && own.operation) throw new TypeError(`once: this operation has its name; once.operation must be absent, got ${typeOf(own.operation)}`);
  const call = outline(client.platform, input, init);
  const idempotent = call.method !== 'POST' && call.method !== 'PATCH';
  const nameOf = once === undefined ? own.nameOf : undefined;
  const bare = once !== true && !handle && !own.operation && own.key === undefined;
  if (idempotent && bare && !nameOf) return sendPlain(client, own, call, send);
  let request: Draft;
  try {
    request = draft(input, init, client.platform);
  } catch (error) {
    // Where nothing of ours is asked for, fetch says itself what is wrong.
    if (once === undefined && !handle && !nameOf) return send();
    throw error;
  }
  if (request.signal?.aborted) throw abortReason(request.signal);
  if (client.closing.signal.aborted) throw new TypeError('once: this client is closed');
  const given = handle ?? own.operation ?? nameOf?.({ method: request.method, url: request.url, json: jsonOf(request.body) });
  const settings = withDialect(own, request);
  if (given || once !== undefined) refuseHidden(request);
  // A request that bears a page's key is that page's: each would wait for the other.
  if (client.platform.relay && once === undefined && !handle && bearsKey(settings, request)) return send();
  if (given)
    return operate({
      client,
      settings,
      place: placeOf(client, given),
      read: () => readRequest(client, settings, request),
      signal: request.signal,
      request: request.request,
    }) as Promise<Response>;
  if (once === true) return operateByContent(client, settings, request) as Promise<Response>;
  const carries = given !== false && (once !== undefined || (wantsKey(request) && canBear(request) && mayGo(client, request)));
  if (carries && settings.dialect.carrier !== '') return operateUnnamed(client, settings, request) as Promise<Response>;
  return idempotent ? sendPlain(client, own, call, send) : send();
}

async function runOnce<T>(client: Client, name: OperationName, effect: (attempt: Attempt) => T | PromiseLike<T>, options: RunOptions<T>): Promise<T> {
  if (typeof effect !== 'function') throw new TypeError(`once: run takes a function, got ${typeof effect}`);
  const { settings, verdict } = runSettings(client.settings, name, options);
  const place = placeOf(client, name);
  const { signal, result: schema } = options;
  if (signal?.aborted) throw abortReason(signal);
  const deadline = client.platform.clock.now() + settings.limits.totalMs;
  const payload = running(effect, verdict as (end: RunEnd<never>) => Verdict | undefined);
  const read = async (): Promise<Read> => {
    const said = JSON.stringify(await settings.fingerprint?.({ method: 'RUN', url: '', body: undefined })) ?? '';
    return { payload, fingerprint: await client.platform.digest(said), raw: '' };
  };
  let outcome = undefined as unknown as Outcome;
  const onOutcome = (end: Outcome) => {
    outcome = end;
    return settings.onOutcome?.(end);
  };
  const value = await operate({ client, settings: { ...settings, onOutcome }, place, read, signal, request: undefined });
  return schema ? parseResult({ client, stop: signal ?? new AbortController().signal, deadline }, schema, value, outcome) : (value as T);
}
