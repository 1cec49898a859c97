/** Models of React Native's storages over maps, with the interfaces of their packages, for tests without these packages. */
import type { AsyncStorageLike } from '../../src/stores/react-native/async-storage.js';
import type { KvStoreLike } from '../../src/stores/react-native/kv-store.js';
import type { MmkvLike } from '../../src/stores/react-native/mmkv.js';

/** One app's disk. `calls` counts the calls; `failing` is thrown instead of an answer. */
export interface Disk {
  readonly pairs: Map<string, string>;
  calls: number;
  failing: unknown;
}

export const disk = (): Disk => ({ pairs: new Map(), calls: 0, failing: undefined });

function touch(at: Disk): Map<string, string> {
  at.calls++;
  if (at.failing !== undefined) throw at.failing;
  return at.pairs;
}

const turn = (): Promise<void> => new Promise((go) => setImmediate(go));

/** Answers up to three turns of the event loop later, in random order. */
const later = async <T>(at: Disk, work: (pairs: Map<string, string>) => T): Promise<T> => {
  for (let turns = Math.ceil(Math.random() * 3); turns > 0; turns--) await turn();
  return work(touch(at));
};

export const asyncStorage = (at: Disk, version: 2 | 3): AsyncStorageLike => ({
  getItem: (key) => later(at, (pairs) => pairs.get(key) ?? null),
  setItem: (key, value) => later(at, (pairs) => void pairs.set(key, value)),
  removeItem: (key) => later(at, (pairs) => void pairs.delete(key)),
  getAllKeys: () => later(at, (pairs) => [...pairs.keys()]),
  ...(version === 3
    ? { getMany: (keys) => later(at, (pairs) => Object.fromEntries(keys.map((key) => [key, pairs.get(key) ?? null]))) }
    : { multiGet: (keys) => later(at, (pairs) => keys.map((key) => [key, pairs.get(key) ?? null] as const)) }),
});

export const mmkv = (at: Disk, id?: string): MmkvLike => ({
  id,
  getString: (key) => touch(at).get(key),
  set: (key, value) => void touch(at).set(key, value),
  remove: (key) => touch(at).delete(key),
  getAllKeys: () => [...touch(at).keys()],
});

/**
 * SQLite as expo-sqlite opens it: without a busy timeout and without a write-ahead log. A transaction that has written makes all other writes
 * fail, and its commit fails while somebody reads.
 */
export function kvStore(at: Disk): KvStoreLike {
  let readers = 0;
  let writing = false;
  const lock = (locked: boolean): void => {
    if (locked) throw new Error('database is locked');
  };
  const read = async <T>(work: (pairs: Map<string, string>) => T): Promise<T> => {
    // The statement is prepared first, which locks nothing.
    await turn();
    readers++;
    try {
      return await later(at, work);
    } finally {
      readers--;
    }
  };
  const write = <T>(work: (pairs: Map<string, string>) => T): Promise<T> =>
    later(at, (pairs) => {
      lock(writing || readers > 0);
      return work(pairs);
    });
  return {
    getItemAsync: (key) => read((pairs) => pairs.get(key) ?? null),
    async setItemAsync(key: string, value: string | ((present: string | null) => string)) {
      if (typeof value === 'string') return write((pairs) => void pairs.set(key, value));
      const next = await read((pairs) => value(pairs.get(key) ?? null));
      lock(writing);
      writing = true;
      try {
        await later(at, (pairs) => {
          lock(readers > 0);
          pairs.set(key, next);
        });
      } finally {
        writing = false;
      }
    },
    removeItemAsync: (key) => write((pairs) => pairs.delete(key)),
    getAllKeysAsync: () => read((pairs) => [...pairs.keys()]),
  };
}
