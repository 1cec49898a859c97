/** Records in SQLite by `expo-sqlite/kv-store`: Expo. */
import type { Store } from '../../ports.js';
import { inTurn, mustHave, type PairsOptions, pairsStore } from '../key-value-base.js';
import { numberOf } from '../number-of.js';

/** What is used of the key-value store of expo-sqlite. */
export interface KvStoreLike {
  getItemAsync(key: string): Promise<string | null>;
  /** A function gets the present value, in an exclusive transaction. */
  setItemAsync(key: string, value: (present: string | null) => string): Promise<void>;
  removeItemAsync(key: string): Promise<unknown>;
  getAllKeysAsync(): Promise<readonly string[]>;
}

/** Thrown into a transaction that is to change nothing: it is rolled back. */
const AS_IT_IS = {};

/**
 * A store in the key-value store of expo-sqlite. Each update is one exclusive transaction of the database.
 *
 * @throws TypeError where it is no such store
 * @example
 * import kvStore from 'expo-sqlite/kv-store';
 * const once = createOnce({ store: kvStoreStore(kvStore) });
 */
export function kvStoreStore(kvStore: KvStoreLike, { prefix = 'oncefetch' }: PairsOptions = {}): Store {
  mustHave(kvStore, 'kvStore', ['getItemAsync', 'setItemAsync', 'removeItemAsync', 'getAllKeysAsync']);
  const { databaseName } = kvStore as { databaseName?: unknown };
  const scope = `kvstore:${typeof databaseName === 'string' ? databaseName : numberOf(kvStore)}/${prefix}`;
  return pairsStore('kvstore', scope, prefix, {
    get: (key) => kvStore.getItemAsync(key),
    getMany: (keys) => Promise.all(keys.map((key) => kvStore.getItemAsync(key))),
    keys: () => kvStore.getAllKeysAsync(),
    // Transactions that wait for one another at the database would be refused as busy.
    swap: (key, change) =>
      inTurn(scope, async () => {
        let removed = false;
        try {
          await kvStore.setItemAsync(key, (present) => {
            const next = change(present);
            if (next === undefined || (next === null && !present)) throw AS_IT_IS;
            removed = next === null;
            // It can't remove here. Empty is as good as absent, should the app end before the removal.
            return next ?? '';
          });
        } catch (error) {
          if (error !== AS_IT_IS) throw error;
        }
        if (removed) await kvStore.removeItemAsync(key);
      }),
  });
}
