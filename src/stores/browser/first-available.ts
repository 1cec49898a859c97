/** Chooses the first store of an app's list that the platform has. */
import { typeOf } from '../../core/name.js';
import type { Store } from '../../ports.js';
import { firstOf } from './automatic.js';

/**
 * A store that, at its first use, chooses the first of `stores` that is available, and then keeps to it: it never changes to another
 * one because of a later failure, since that would not have the keys. If a store can't tell whether it is available, the call
 * rejects, and the next call asks again.
 *
 * @param stores - the best one first
 * @throws TypeError if this is not a list of stores
 * @example
 * const store = firstAvailable([indexedDbStore(), localStorageStore(), memoryStore()]);
 */
export function firstAvailable(stores: readonly [Store, ...Store[]]): Store & { ready(): Promise<Store> } {
  const [first] = Array.isArray(stores) ? (stores as readonly unknown[]) : [];
  if (!first) throw new TypeError(`once: firstAvailable takes an array of stores, got ${Array.isArray(stores) ? 'an empty one' : typeOf(stores)}`);
  for (const [index, store] of stores.entries())
    if (typeof (store as Partial<Store> | undefined)?.update !== 'function')
      throw new TypeError(`once: firstAvailable takes stores, got ${typeOf(store)} at ${index}`);
  return firstOf(stores);
}
