/** Records in memory: for tests, for servers that may forget, and for browsers that refuse to store anything. */
import type { ScanPage, ScanQuery, Store } from '../ports.js';
import { createStore, type Next, pageOf } from './base.js';
import { memoryRecords } from './memory-records.js';
import { onlyOptions } from './only-options.js';

/** What several memory stores can share, as the tabs of a browser share its disk. */
export interface MemoryMedium {
  readonly scope: string;
  get(id: string): unknown;
  /** Stores a frozen copy of any value, or the value itself if it is frozen; `null` removes the record. */
  set(id: string, value: unknown): void;
  scan(query: ScanQuery): ScanPage;
  /** Another medium in the same memory, always the same one for the same `scope`. @internal */
  beside?(scope: string): MemoryMedium;
}

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** @default a new one */
  readonly medium?: MemoryMedium | undefined;
  /** The store's time, ms since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * A store in memory. Its records live as long as its medium, which is never longer than this page or process.
 *
 * @example
 * const once = createOnce({ store: memoryStore() });
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  onlyOptions('memoryStore', options, { medium: 'object', now: 'function' });
  return storeOn(options.medium ?? memoryMedium(), options.now);
}

function storeOn({ scope, get, set, scan }: MemoryMedium, now?: () => number): Store {
  const claims = { kind: 'memory', scope, survives: 'context', shared: 'context', atomic: true } as const;
  const update = (id: string, next: (current: unknown) => Next) => {
    const value = next(get(id));
    if (value !== undefined) set(id, value);
  };
  return createStore(claims, { update, read: get, scan }, now);
}

const REALM = Symbol.for('oncefetch.memory');

/**
 * A store over the one memory of this realm, so that a second client, or a component that is rendered again, finds the same records. The
 * memory is found by a symbol, because two copies of the package must share it.
 */
export const defaultMemoryStore = (): Store => storeOn(realmMedium());

/**
 * A memory store for records that the store with this scope did not take. Each store has its own, because records of two stores may have
 * equal ids, which are made of namespace and name only. Its time is that of this context. Its memory is made only when it is needed,
 * because a server may make a client for each request.
 */
export function memoryBeside(scope: string, now: () => number): () => Store {
  const medium = realmMedium();
  return () => storeOn(medium.beside?.(scope) ?? medium, now);
}

function realmMedium(): MemoryMedium {
  const realm = globalThis as { [REALM]?: MemoryMedium };
  realm[REALM] ??= memoryMedium('memory');
  return realm[REALM];
}

/** Memory for {@link memoryStore}. Two stores on one medium see the same records. */
export function memoryMedium(scope = `memory:${Math.random()}`): MemoryMedium {
  const { get, set, of } = memoryRecords();
  const others = new Map<string, MemoryMedium>();
  return {
    scope,
    beside(other) {
      const known = others.get(other) ?? memoryMedium(`${scope} beside ${other}`);
      others.set(other, known);
      return known;
    },
    get,
    set,
    scan: (query) => pageOf(of(query), query),
  };
}
