/** Records in AsyncStorage: React Native, `@react-native-async-storage/async-storage` 2 and 3. */
import type { Store } from '../../ports.js';
import { inTurn, mustHave, type PairsOptions, pairsStore, type Text } from '../key-value-base.js';
import { numberOf } from '../number-of.js';

/** What is used of AsyncStorage: `getMany` is version 3, `multiGet` version 2. */
export interface AsyncStorageLike {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<void>;
  removeItem(key: string): Promise<unknown>;
  getAllKeys(): Promise<readonly string[]>;
  getMany?(keys: string[]): Promise<Record<string, string | null>>;
  multiGet?(keys: string[]): Promise<readonly (readonly [string, string | null])[]>;
}

/**
 * A store in AsyncStorage, which has no step that both reads and writes: updates of one record wait for one another, in
 * this JavaScript runtime. Android gives version 2 some 6 MB in all.
 *
 * @throws TypeError where it is no AsyncStorage
 * @example
 * const once = createOnce({ store: asyncStorageStore(AsyncStorage) });
 */
export function asyncStorageStore(AsyncStorage: AsyncStorageLike, { prefix = 'oncefetch' }: PairsOptions = {}): Store {
  mustHave(AsyncStorage, 'AsyncStorage', ['getItem', 'setItem', 'removeItem', 'getAllKeys']);
  const { dbName } = AsyncStorage as { dbName?: unknown };
  const scope = `asyncstorage:${typeof dbName === 'string' ? dbName : numberOf(AsyncStorage)}/${prefix}`;
  return pairsStore('asyncstorage', scope, prefix, {
    get: (key) => AsyncStorage.getItem(key),
    getMany: (keys) => many(AsyncStorage, [...keys]),
    keys: () => AsyncStorage.getAllKeys(),
    swap: (key, change) =>
      inTurn(`${scope} ${key}`, async () => {
        const next = change(await AsyncStorage.getItem(key));
        if (next) await AsyncStorage.setItem(key, next);
        else if (next === null) await AsyncStorage.removeItem(key);
      }),
  });
}

/** By key: version 3 gives them in the order of its database, and what has been removed meanwhile at the end, or not at all. */
async function many(AsyncStorage: AsyncStorageLike, keys: string[]): Promise<readonly Text[]> {
  if (keys.length === 0) return [];
  if (!AsyncStorage.getMany && !AsyncStorage.multiGet) return Promise.all(keys.map((key) => AsyncStorage.getItem(key)));
  const pairs = AsyncStorage.getMany ? Object.entries(await AsyncStorage.getMany(keys)) : await AsyncStorage.multiGet?.(keys);
  const found = new Map(pairs);
  return keys.map((key) => found.get(key));
}
