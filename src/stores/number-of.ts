/** Names for clients and storages that have none of their own. */

const REALM = Symbol.for('oncefetch.numbers');

interface Numbers {
  readonly of: WeakMap<object, number>;
  count: number;
}

/**
 * Its number in this realm, the same in all copies of the package. Two objects may reach one server, but nothing that all kinds have
 * would tell: then they meet in the store, as two processes do.
 */
export function numberOf(storage: object): string {
  const here = globalThis as { [REALM]?: Numbers };
  here[REALM] ??= { of: new WeakMap(), count: 0 };
  const numbers = here[REALM];
  if (!numbers.of.has(storage)) numbers.of.set(storage, ++numbers.count);
  return `#${numbers.of.get(storage)}`;
}
