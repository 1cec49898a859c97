/** Records in memory: for tests, for servers that may forget, and where a browser refuses to store anything. */
import type { ScanPage, ScanQuery, Store, Stored } from '../ports.js';
import { isStored, pageOf, roomOf, startsOf, storeOf } from './base.js';
import { type Key, orderedKeys } from './ordered.js';

/** What several memory stores can share, as the tabs of a browser share its disk. */
export interface MemoryMedium {
  readonly scope: string;
  get(id: string): unknown;
  /** Stores a frozen copy, of anything at all; `null` removes. */
  set(id: string, value: unknown): void;
  scan(query: ScanQuery): ScanPage;
}

export interface MemoryStoreOptions {
  /** @default a new one */
  readonly medium?: MemoryMedium | undefined;
  /** The store's time, ms since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * A store that lives as long as its medium: never longer than this page or process.
 *
 * @example
 * const once = createOnce({ store: memoryStore() });
 */
export function memoryStore({ medium = memoryMedium(), now = Date.now }: MemoryStoreOptions = {}): Store {
  return storeOf({ kind: 'memory', scope: medium.scope, survives: 'context', shared: 'context', atomic: true }, now, {
    update(id, next) {
      const value = next(medium.get(id));
      if (value !== undefined) medium.set(id, value);
    },
    read: medium.get,
    scan: medium.scan,
  });
}

/** Memory for {@link memoryStore}; two stores on one medium see the same records. */
export function memoryMedium(scope = `memory:${++realm().media}`): MemoryMedium {
  const records = new Map<string, unknown>();
  // By time and by label, each under its own first part.
  const keys = orderedKeys();
  const index = (how: 'add' | 'delete', id: string): void => {
    const value = records.get(id);
    if (!isStored(value)) return;
    keys[how](['label', value.ns, value.state, value.label, id]);
    keys[how](['time', value.forgetAt, id]);
  };
  const take = (start: Key, room: number, fits: (key: Key) => boolean): Stored[] => {
    const found: unknown[] = [];
    for (const key of keys.from(start)) {
      if (found.length === room || !fits(key)) break;
      found.push(records.get(key.at(-1) as string));
    }
    return found as Stored[];
  };
  return {
    scope,
    get: (id) => records.get(id),
    set(id, value) {
      index('delete', id);
      if (value === null) records.delete(id);
      else records.set(id, frozenCopy(value));
      index('add', id);
    },
    scan(query) {
      if ('before' in query) return { records: take(['time'], query.limit, ([, forgetAt]) => (forgetAt as number) < query.before) };
      const fits = ([ns, state]: string[]) => (key: Key) => key[1] === ns && key[2] === state && `${key[3]}`.startsWith(query.prefix ?? '');
      return pageOf(
        startsOf(query).flatMap((start) => take(['label', ...start], roomOf(query), fits(start))),
        query,
      );
    },
  };
}

/** Frozen, so that reading needs no copy: one microsecond per write, on the path to the first byte. */
function frozenCopy(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (typeof value !== 'object' || !value) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  for (const key of Object.keys(copy)) if (typeof copy[key] === 'object') copy[key] = frozenCopy(copy[key]);
  return Object.freeze(copy);
}

const REALM = Symbol.for('oncefetch.memory');

/** Found by its symbol: two copies of the package, or a module loaded anew, must not each have a memory of their own. */
function realm(): { media: number; medium?: MemoryMedium } {
  const world = globalThis as { [REALM]?: { media: number; medium?: MemoryMedium } };
  world[REALM] ??= { media: 0 };
  return world[REALM];
}

/** A store over the one memory of this realm: a second client, or a component rendered anew, finds the same records. */
export function defaultMemoryStore(): Store {
  const shared = realm();
  shared.medium ??= memoryMedium('memory');
  return memoryStore({ medium: shared.medium });
}
