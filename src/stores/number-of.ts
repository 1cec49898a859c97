/** Names for clients and storages that have no name of their own. */

const REALM = Symbol.for('oncefetch.numbers');

interface Numbers {
  readonly of: WeakMap<object, number>;
  count: number;
}

/**
 * A number for this object, the same in all copies of the package in this realm. Two objects that reach the same server get two numbers,
 * because clients have no common member that tells which server they reach. Their calls then meet in the store, as those of two processes do.
 */
export function numberOf(storage: object): string {
  const here = globalThis as { [REALM]?: Numbers };
  here[REALM] ??= { of: new WeakMap(), count: 0 };
  const numbers = here[REALM];
  if (!numbers.of.has(storage)) numbers.of.set(storage, ++numbers.count);
  return `#${numbers.of.get(storage)}`;
}
