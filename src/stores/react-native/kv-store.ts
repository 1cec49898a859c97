/** Records in SQLite through `expo-sqlite/kv-store`, for Expo. */
import type { Store } from '../../ports.js';
import { inTurn, isLocked, mustHave, type PairsOptions, pairsStore } from '../key-value-base.js';
import { numberOf } from '../number-of.js';
import { STORE_MS_MAX } from '../time-limit.js';

/** The part of expo-sqlite's key-value store that is used. */
export interface KvStoreLike {
  getItemAsync(key: string): Promise<string | null>;
  /** Calls the function with the present value, in an exclusive transaction. */
  setItemAsync(key: string, value: (present: string | null) => string): Promise<void>;
  removeItemAsync(key: string): Promise<unknown>;
  getAllKeysAsync(): Promise<readonly string[]>;
}

/** Thrown inside a transaction that should change nothing, so that it is rolled back. */
const AS_IT_IS = {};

/** How long a call tries again while the app's own calls lock the database, ms, and the longest pause in between. */
const LOCKED_MS_MAX = 5000;
const PAUSE_MS_MAX = 20;

/** Tries again while the database is locked: expo-sqlite never waits for a lock, and a commit fails even while somebody only reads. */
async function unlocked<T>(work: () => Promise<T>, deadline: number): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLocked(error) || performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS_MAX));
  }
}

/** Ends the wait for a call that never comes back: the calls behind it would wait for ever. Its own caller has given up by then. */
function limited<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${STORE_MS_MAX} ms`)), STORE_MS_MAX);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * A store in the key-value store of expo-sqlite. Each update is one exclusive transaction of the database. The app's own writes to the
 * same database fail meanwhile, so give the store a database of its own.
 *
 * @throws TypeError if `kvStore` is no such store
 * @example
 * import { SQLiteStorage } from 'expo-sqlite/kv-store';
 * const once = createOnce({ store: kvStoreStore(new SQLiteStorage('oncefetch')) });
 */
export function kvStoreStore(kvStore: KvStoreLike, { prefix = 'oncefetch' }: PairsOptions = {}): Store {
  mustHave(kvStore, 'kvStore', ['getItemAsync', 'setItemAsync', 'removeItemAsync', 'getAllKeysAsync']);
  const { databaseName } = kvStore as { databaseName?: unknown };
  const database = `kvstore:${typeof databaseName === 'string' ? databaseName : numberOf(kvStore)}`;
  // One call at a time, reads too: stores with other prefixes share the database, and what overlaps with a commit makes it fail.
  const alone = <T>(work: (deadline: number) => Promise<T>): Promise<T> => {
    const deadline = performance.now() + LOCKED_MS_MAX;
    return inTurn(database, () => limited(work(deadline)));
  };
  const reading = <T>(work: () => Promise<T>): Promise<T> => alone((deadline) => unlocked(work, deadline));
  return pairsStore('kvstore', `${database}/${prefix}`, prefix, {
    get: (key) => reading(() => kvStore.getItemAsync(key)),
    getMany: (keys) => reading(() => Promise.all(keys.map((key) => kvStore.getItemAsync(key)))),
    keys: () => reading(() => kvStore.getAllKeysAsync()),
    swap: (key, change) =>
      alone(async (deadline) => {
        let removed = false;
        const write = (present: string | null): string => {
          const next = change(present);
          if (next === undefined || (next === null && !present)) throw AS_IT_IS;
          removed = next === null;
          // The transaction can't remove a key. It writes an empty text, which counts as absent if the app ends before the removal below.
          return next ?? '';
        };
        try {
          await unlocked(() => kvStore.setItemAsync(key, write), deadline);
        } catch (error) {
          if (error !== AS_IT_IS) throw error;
          return;
        }
        if (removed) await unlocked(() => kvStore.removeItemAsync(key), deadline);
      }),
  });
}
