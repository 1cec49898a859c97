/** Records in memory: for tests, for servers that may forget, and where a browser refuses to store anything. */
import type { ScanPage, ScanQuery, Store, Stored } from '../ports.js';
import { isStored, pageOf, storeOf } from './base.js';

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
  const { scope, get, set, scan } = medium;
  return storeOf({ kind: 'memory', scope, survives: 'context', shared: 'context', atomic: true }, now, {
    update(id, next) {
      const value = next(get(id));
      if (value !== undefined) set(id, value);
    },
    read: get,
    scan,
  });
}

const REALM = Symbol.for('oncefetch.memory');

/**
 * A store over the one memory of this realm: a second client, or a component rendered anew, finds the same records. Found
 * by a symbol, because two copies of the package must not have a memory each.
 */
export function defaultMemoryStore(): Store {
  const realm = globalThis as { [REALM]?: MemoryMedium };
  realm[REALM] ??= memoryMedium('memory');
  return memoryStore({ medium: realm[REALM] });
}

/** Records that are forgotten within the same span are looked through together, ms. */
const SPAN_MS = 600_000;

/** Memory for {@link memoryStore}; two stores on one medium see the same records. */
export function memoryMedium(scope = `memory:${Math.random()}`): MemoryMedium {
  const records = new Map<string, unknown>();
  // So that a scan looks at records that it may want, and at no others.
  const byState = new Map<string, Map<string, Stored>>();
  const bySpan = new Map<number, Map<string, Stored>>();
  const stateOf = ({ ns, state }: Pick<Stored, 'ns' | 'state'>) => `${state} ${ns}`;
  return {
    scope,
    get: (id) => records.get(id),
    set(id, value) {
      const old = records.get(id);
      if (isStored(old)) {
        regroup(byState, stateOf(old), id);
        regroup(bySpan, Math.floor(old.forgetAt / SPAN_MS), id);
      }
      records.delete(id);
      if (value === null) return;
      const copy = frozenCopy(value);
      records.set(id, copy);
      if (!isStored(copy)) return;
      regroup(byState, stateOf(copy), id, copy);
      regroup(bySpan, Math.floor(copy.forgetAt / SPAN_MS), id, copy);
    },
    scan(query) {
      const groups = 'before' in query ? [...bySpan].flatMap(([span, group]) => (span * SPAN_MS < query.before ? [group] : [])) : [byState.get(stateOf(query))];
      return pageOf(
        groups.flatMap((group) => [...(group?.values() ?? [])]),
        query,
      );
    },
  };
}

function regroup<Key>(groups: Map<Key, Map<string, Stored>>, key: Key, id: string, record?: Stored): void {
  const group = groups.get(key) ?? new Map<string, Stored>();
  if (record) groups.set(key, group.set(id, record));
  else if (group.delete(id) && !group.size) groups.delete(key);
}

/** Frozen, so that reading needs no copy: one microsecond per write, on the path to the first byte. */
function frozenCopy(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (typeof value !== 'object' || !value) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  for (const key of Object.keys(copy)) if (typeof copy[key] === 'object') copy[key] = frozenCopy(copy[key]);
  return Object.freeze(copy);
}
