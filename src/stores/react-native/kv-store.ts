/** Records in SQLite through `expo-sqlite/kv-store`, for Expo. */
import type { Store } from '../../ports.js';
import { inTurn, mustHave, type PairsOptions, pairsStore } from '../key-value-base.js';
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

/**
 * A store in the key-value store of expo-sqlite. Each update is one exclusive transaction of the database.
 *
 * @throws TypeError if `kvStore` is no such store
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
    // One at a time: the database would refuse concurrent transactions as busy.
    swap: (key, change) =>
      inTurn(scope, async () => {
        let removed = false;
        try {
          await kvStore.setItemAsync(key, (present) => {
            const next = change(present);
            if (next === undefined || (next === null && !present)) throw AS_IT_IS;
            removed = next === null;
            // The transaction can't remove a key. It writes an empty text, which counts as absent if the app ends before the removal below.
            return next ?? '';
          });
        } catch (error) {
          if (error !== AS_IT_IS) throw error;
        }
        if (removed) await kvStore.removeItemAsync(key);
      }),
  });
}
