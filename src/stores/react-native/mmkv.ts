/** Records in MMKV of React Native: `react-native-mmkv` 4. */
import type { Store } from '../../ports.js';
import { mustHave, type PairsOptions, pairsStore } from '../key-value-base.js';
import { numberOf } from '../number-of.js';

/** The part of an MMKV instance that is used. */
export interface MmkvLike {
  readonly id?: string | undefined;
  getString(key: string): string | undefined;
  set(key: string, value: string): void;
  remove(key: string): unknown;
  getAllKeys(): readonly string[];
}

/**
 * A store in an MMKV instance. MMKV keeps its whole file in memory, so give the store an instance of its own. It reads and writes
 * synchronously, so nothing can come in between. Instances with one `id` count as one storage, also if their `path` differs: give each a
 * `prefix` of its own then.
 *
 * @throws TypeError if it is not an MMKV instance
 * @example
 * const once = createOnce({ store: mmkvStore(createMMKV({ id: 'oncefetch' })) });
 */
export function mmkvStore(mmkv: MmkvLike, { prefix = 'oncefetch' }: PairsOptions = {}): Store {
  mustHave(mmkv, 'mmkv', ['getString', 'set', 'remove', 'getAllKeys']);
  return pairsStore('mmkv', `mmkv:${mmkv.id ?? numberOf(mmkv)}/${prefix}`, prefix, {
    get: (key) => mmkv.getString(key),
    getMany: (keys) => keys.map((key) => mmkv.getString(key)),
    keys: () => mmkv.getAllKeys(),
    swap(key, change) {
      const next = change(mmkv.getString(key));
      if (next) mmkv.set(key, next);
      else if (next === null) mmkv.remove(key);
    },
  });
}
