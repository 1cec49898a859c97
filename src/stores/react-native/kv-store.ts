/** Records in SQLite through `expo-sqlite/kv-store`, for Expo. */
import type { Store } from '../../ports.js';
import { inTurn, isLocked, mustHave, type PairsOptions, pairsStore } from '../key-value-base.js';
import { numberOf } from '../number-of.js';

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

/** How long a call tries again while the app's own calls lock the database, and the pause in between, ms. */
const LOCKED_MS_MAX = 5_000;
const PAUSE_MS = 10;
/** If a call never ends, the calls that wait for their turn behind it go on after this time, ms. Its own caller has given up by then. */
const TURN_MS_MAX = 10_000;

/** Tries again while the database is locked: expo-sqlite never waits for a lock, and a commit fails even while somebody only reads. */
function unlocked<T>(work: () => Promise<T>, until = Date.now() + LOCKED_MS_MAX): Promise<T> {
  return work().catch(async (error) => {
    if (!isLocked(error) || Date.now() >= until) throw error;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return unlocked(work, until);
  });
}

interface Turn {
  over: boolean;
}

/** Rejects if the work takes too long, which ends its turn. */
function limited<T>(work: (turn: Turn) => Promise<T>): Promise<T> {
  const turn = { over: false };
  return new Promise((resolve, reject) => {
    const late = (): void => {
      turn.over = true;
      reject('timeout');
    };
    const timer = setTimeout(late, TURN_MS_MAX);
    void work(turn)
      .then(resolve, reject)
      .then(() => clearTimeout(timer));
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
  const alone = <T>(work: (turn: Turn) => Promise<T>): Promise<T> => inTurn(database, () => limited(work));
  const get = (key: string): Promise<string | null> => alone(() => unlocked(() => kvStore.getItemAsync(key)));
  return pairsStore('kvstore', `${database}/${prefix}`, prefix, {
    get,
    getMany: (keys) => Promise.all(keys.map(get)),
    keys: () => alone(() => unlocked(() => kvStore.getAllKeysAsync())),
    swap: (key, change) =>
      alone(async (turn) => {
        let removed = false;
        const write = (present: string | null): string => {
          const next = change(present);
          removed = next === null && !!present;
          if (!next && !removed) throw AS_IT_IS;
          // The transaction can't remove a key. It writes an empty text, which counts as absent if the app ends before the removal below.
          return next ?? '';
        };
        await unlocked(() => kvStore.setItemAsync(key, write)).catch((error) => {
          if (error !== AS_IT_IS) throw error;
        });
        // Once the turn is over, another call may have put a record there. The empty text stays.
        if (removed && !turn.over) await unlocked(() => kvStore.removeItemAsync(key));
      }),
  });
}
