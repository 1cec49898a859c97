/** The first store that the platform has. */
import type { Store } from '../../ports.js';
import { StoreFault } from '../fault.js';

/**
 * A store that asks each of `stores` in order, at first use, and works with the first one that is there, for good: a later
 * trouble of it never moves on to another one, which would not have its keys. If one cannot tell whether it is there, that
 * call rejects, and the next call asks again.
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
    // The same before and after the choice, because calls that are under way are found by it.
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
