/** Chooses the first store of a list that the platform has. */
import type { Store } from '../../ports.js';
import { StoreFault } from '../fault.js';

/**
 * A store that, at its first use, chooses the first of `stores` that is available, and then keeps to it: it never changes to another
 * one because of a later failure, since that would not have the keys. If a store can't tell whether it is available, the call
 * rejects, and the next call asks again.
 *
 * @param stores - the best one first
 * @example
 * const store = firstAvailable([indexedDbStore(), localStorageStore(), memoryStore()]);
 */
export function firstAvailable(stores: readonly [Store, ...Store[]]): Store & { ready(): Promise<Store> } {
  let choosing: Promise<Store> | undefined;
  const choose = async (): Promise<Store> => {
    for (const store of stores) {
      if (store.available && !(await store.available())) continue;
      const { kind, survives, shared, atomic } = store;
      Object.assign(automatic, { kind, survives, shared, atomic });
      return store;
    }
    throw new StoreFault('denied', 'no store is available here');
  };
  const ready = (): Promise<Store> => {
    choosing ??= choose().catch((fault) => {
      choosing = undefined;
      throw fault;
    });
    return choosing;
  };
  const automatic: Store & { ready(): Promise<Store> } = {
    kind: 'automatic',
    // The same before and after the choice, because operations in flight are found by it.
    scope: stores[0].scope,
    survives: 'context',
    shared: 'context',
    atomic: false,
    ready,
    update: async (...call) => (await ready()).update(...call),
    read: async (id) => (await ready()).read(id),
    scan: async (query) => (await ready()).scan(query),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
  return automatic;
}
