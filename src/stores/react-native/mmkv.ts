/** Records in MMKV: React Native, `react-native-mmkv` 4. */
import type { Store } from '../../ports.js';
import { mustHave, type PairsOptions, pairsStore } from '../key-value-base.js';
import { numberOf } from '../number-of.js';

/** What is used of an MMKV instance. */
export interface MmkvLike {
  readonly id?: string | undefined;
  getString(key: string): string | undefined;
  set(key: string, value: string): void;
  remove(key: string): unknown;
  getAllKeys(): readonly string[];
}

/**
 * A store in an MMKV instance, whose file is held in memory as a whole: one of its own is best. It reads and writes
 * synchronously, so that nothing comes between.
 *
 * @throws TypeError where it is no MMKV instance
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
