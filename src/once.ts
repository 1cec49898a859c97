/** createOnce: joins options, store, platform and engine. */
import { encodeName, namePrefix, type OperationName } from './core/name.js';
import type { Outcome } from './core/outcome.js';
import type { Client } from './engine/client.js';
import { abortReason } from './engine/flight.js';
import { Handle, type Operation } from './engine/handle.js';
import type { OnceEvent, PendingOperation } from './engine/observe.js';
import { operate, placeOf } from './engine/operate.js';
import { draft } from './engine/prepared.js';
import { clearAll, listPending } from './engine/records.js';
import { registry } from './engine/registry.js';
import { isOnceError } from './errors.js';
import { callSettings, clientSettings, type OnceInit, type OnceOptions } from './options.js';
import { detectPlatform } from './platform/detect.js';
import type { Platform } from './ports.js';
import { defaultMemoryStore } from './stores/memory.js';

/** fetch's `init`, with `once`. */
export interface OnceRequestInit extends RequestInit {
  once?: OnceInit | undefined;
}

export interface Once {
  /**
   * A `fetch`: same arguments, same promise. With `once` it takes effect once; without, it is the plain fetch.
   *
   * @throws OnceError where the answer would be a lie, or sending would be unsafe; TypeError on a wrong option
   * @example
   * const response = await once.fetch('/api/payments', { method: 'POST', body: JSON.stringify(cart), once: ['pay', cart.id] });
   */
  readonly fetch: (input: RequestInfo | URL, init?: OnceRequestInit) => Promise<Response>;
  /** A handle for one operation. Throws a TypeError on a wrong name. */
  operation(name: OperationName): Operation;
  /** Operations that have not settled, ordered by name. @default limit 100 */
  pending(options?: { prefix?: OperationName | undefined; limit?: number | undefined; after?: string | undefined }): Promise<readonly PendingOperation[]>;
  /** Calls back on every event; the result unsubscribes. */
  subscribe(listener: (event: OnceEvent) => void, options?: { prefix?: OperationName | undefined; signal?: AbortSignal | undefined }): () => void;
  /** Other options over the same store, table of operations and claims. */
  extend(options: Partial<OnceOptions>): Once;
  /**
   * For log-out: removes answers, stored requests, `meta` and settled records, but keeps the keys of unsettled operations
   * under their namespace, and returns those. `unsettled: 'forget'` drops them too: each may take effect a second time.
   */
  clear(options?: { unsettled?: 'keep' | 'forget' | undefined }): Promise<{ readonly kept: readonly PendingOperation[] }>;
  /** No new attempts; waits are cut; attempts under way may end within `limits.attemptMs`. */
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
export function createOn(platform: Platform, options: OnceOptions = {}): Once {
  const settings = clientSettings(options);
  const store = settings.store ?? platform.store();
  if (settings.required && settings.store?.survives === 'context' && !settings.store.ready) throw new TypeError(`once: durability 'required' needs a store that outlives the process, got ${settings.store.kind}`);
  const connectivity = settings.connectivity ?? platform.connectivity;
  const client: Client = {
    settings,
    platform: { ...platform, connectivity },
    store,
    fallback: defaultMemoryStore(),
    transport: platform.transport(settings.fetch),
    registry: registry(),
    listeners: new Set(),
    closing: new AbortController(),
    settles: 0,
  };
  return face(client, platform, options);
}

function face(client: Client, platform: Platform, options: OnceOptions): Once {
  const { settings, registry, listeners } = client;
  const namespace = (): string => placeOf(client, ['-']).namespace;
  const call = async (input: RequestInfo | URL, init: OnceRequestInit | undefined, name?: OperationName): Promise<Response> => {
    const own = callSettings(settings, name ?? init?.once);
    if (!own) return plain(client, input, init);
    const place = placeOf(client, own.operation);
    const request = draft(input, init, client.platform);
    if (request.signal?.aborted) throw abortReason(request.signal);
    if (client.closing.signal.aborted) throw new TypeError('once: this client is closed');
    // A key that the caller set itself is the key; it is never overwritten or appended to.
    const literal = request.headers.get(own.dialect.header);
    return operate(client, literal === null ? own : { ...own, key: literal }, place, request, request.signal);
  };
  return {
    fetch: (input, init) => call(input, init),
    operation: (name) => (encodeName(name), new Handle(client, Object.freeze([...name]), (input, init) => call(input, init, name))),
    pending: async (query = {}) => listPending(client, namespace(), query),
    subscribe(listener, { prefix, signal } = {}) {
      if (typeof listener !== 'function') throw new TypeError(`once: subscribe takes a function, got ${typeof listener}`);
      const entry = { hears: listener, begins: prefix?.length ? namePrefix(prefix).begins : undefined };
      const off = (): void => void listeners.delete(entry);
      if (!signal?.aborted) listeners.add(entry);
      signal?.addEventListener('abort', off, { once: true });
      return off;
    },
    extend: (more) => createOn(platform, { ...options, store: client.store, ...more }),
    clear: async ({ unsettled = 'keep' } = {}) => ({ kept: await clearAll(client, namespace(), unsettled === 'forget') }),
    async close() {
      client.closing.abort();
      await Promise.all([...registry.flights.values()].filter((flight) => flight.owner === client).map((flight) => flight.landed));
      if (settings.store) await client.store.close();
    },
  };
}

/** A call that oncefetch has nothing to do with. */
function plain(client: Client, input: RequestInfo | URL, init: OnceRequestInit | undefined): Promise<Response> {
  const { once: _, ...rest } = init ?? {};
  return (client.settings.fetch ?? globalThis.fetch)(input, init && 'once' in init ? rest : init);
}

/** How many causes deep an outcome is looked for. */
const DEPTH_MAX = 4;
/** Where HTTP clients hide our error or our Response in theirs. */
const CARRIERS = ['request', 'response', 'cause', 'detail', 'networkError', 'originalError', 'meta', 'context'] as const;

/**
 * What became of the operation: of a Response, a Request, one of our errors, or the error or response of an HTTP client
 * that carries one of these. `undefined` for a call that oncefetch had nothing to do with.
 *
 * @example
 * if (outcomeOf(error)?.effect === 'unknown') showUnsure();
 */
export function outcomeOf(of: unknown): Outcome | undefined {
  let level: unknown[] = [of];
  for (let depth = 0; depth <= DEPTH_MAX && level.length; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      if ((typeof one !== 'object' && typeof one !== 'function') || one === null) continue;
      const found = registry().outcomes.get(one) ?? (isOnceError(one) ? one.outcome : undefined);
      if (found) return found;
      for (const name of CARRIERS) next.push(peek(one, name));
    }
    level = next;
  }
  return undefined;
}

/** A getter of a stranger's object may throw. */
function peek(of: object, name: string): unknown {
  try {
    return (of as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
