/** Records in AsyncStorage of React Native: `@react-native-async-storage/async-storage` 2 and 3. */
import type { Store } from '../../ports.js';
import { inTurn, mustHave, type PairsOptions, pairsStore, type Text } from '../key-value-base.js';
import { numberOf } from '../number-of.js';

/** The part of AsyncStorage that is used. Version 3 has `getMany`, version 2 `multiGet`. */
export interface AsyncStorageLike {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<void>;
  removeItem(key: string): Promise<unknown>;
  getAllKeys(): Promise<readonly string[]>;
  getMany?(keys: string[]): Promise<Record<string, string | null>>;
  multiGet?(keys: string[]): Promise<readonly (readonly [string, string | null])[]>;
}

/** Android takes a longer text and can't read it again, alone or among others: its cursors hold 2 MB. */
const TEXT_BYTES_MAX = 1_900_000;

function checkLength(text: string): void {
  if (text.replace(/[^\0-\x7f]/g, 'xxx').length > TEXT_BYTES_MAX) throw new RangeError('over quota: Android reads no more than 2 MB of one entry');
}

/**
 * A store in AsyncStorage. AsyncStorage can't read and write in one step, so updates of one record wait for one another within this
 * JavaScript runtime. On Android, version 2 holds about 6 MB in all.
 *
 * @throws TypeError if it is not an AsyncStorage
 * @example
 * const once = createOnce({ store: asyncStorageStore(AsyncStorage) });
 */
export function asyncStorageStore(AsyncStorage: AsyncStorageLike, { prefix = 'oncefetch' }: PairsOptions = {}): Store {
  mustHave(AsyncStorage, 'AsyncStorage', ['getItem', 'setItem', 'removeItem', 'getAllKeys']);
  const { dbName } = AsyncStorage as { dbName?: unknown };
  let kept = false;
  const scope = `asyncstorage:${typeof dbName === 'string' ? dbName : numberOf(AsyncStorage)}/${prefix}`;
  return pairsStore('asyncstorage', scope, prefix, {
    get: (key) => AsyncStorage.getItem(key),
    getMany: (keys) => many(AsyncStorage, [...keys]),
    keys: () => AsyncStorage.getAllKeys(),
    swap: (key, change) =>
      inTurn(`${scope} ${key}`, async () => {
        const next = change(await AsyncStorage.getItem(key));
        if (next) {
          checkLength(next);
          await AsyncStorage.setItem(key, next);
          // A mock or an adapter may accept everything and store nothing. Check that once, after the first write.
          kept ||= (await AsyncStorage.getItem(key)) !== null;
          if (!kept) throw new Error('it accepts writes, but stores nothing');
        } else if (next === null) await AsyncStorage.removeItem(key);
      }),
  });
}

/** The texts of many keys, in the order of `keys`: version 3 gives them in another order, and may leave out keys that have been removed meanwhile. */
async function many(AsyncStorage: AsyncStorageLike, keys: string[]): Promise<readonly Text[]> {
  if (keys.length === 0) return [];
  if (!AsyncStorage.getMany && !AsyncStorage.multiGet) return Promise.all(keys.map((key) => AsyncStorage.getItem(key)));
  const pairs = AsyncStorage.getMany ? Object.entries(await AsyncStorage.getMany(keys)) : await AsyncStorage.multiGet?.(keys);
  const found = new Map(pairs);
  return keys.map((key) => found.get(key));
}
