/** Chooses the first store of a list that the platform has. */
import type { Store } from '../../ports.js';
import { StoreFault } from '../fault.js';

/** `firstAvailable` without its checks, for the default store. */
export function firstOf(stores: readonly [Store, ...Store[]]): Store & { ready(): Promise<Store> } {
  let choosing: Promise<Store> | undefined;
  const choose = async (): Promise<Store> => {
    for (const store of stores) {
      if (store.available && !(await store.available())) continue;
      const { kind, survives, shared, atomic } = store;
      Object.assign(automatic, { kind, survives, shared, atomic });
      return store;
    }
    throw new StoreFault('denied', 'no store here');
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
    // The scope must be the same before and after the choice, because the tables of operations in flight are keyed by it.
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
