/** A minimal record, and helpers for tests of stores. */
import type { Durability, Store, Stored } from '../../src/ports.js';

export const record = (id: string, more: object = {}): Stored => ({ id, ns: 'ns', state: 'pending', label: `["${id}"]`, forgetAt: 1000, ...more });
export const countOf = (found: unknown): number => (found as { count?: number } | undefined)?.count ?? 0;

/** `what`: a record, or the id of one. */
export function put(store: Store, what: Stored | string, durability: Durability = 'strict'): Promise<string> {
  const next = typeof what === 'string' ? record(what) : what;
  return store.update(next.id, () => ({ next, value: 'stored' }), { durability });
}
export const raise = (store: Store, id = 'n', durability: Durability = 'strict'): Promise<string> =>
  store.update(id, (now) => ({ next: record(id, { count: countOf(now) + 1 }), value: 'raised' }), { durability });
export const remove = (store: Store, id: string): Promise<string> => store.update(id, () => ({ next: null, value: 'removed' }));

export const ignore = (): void => {};
