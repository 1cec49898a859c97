/** Tables that all copies of the package in one realm share. */

/** The table with this name. It is created at first use, never on import. */
export function sharedTable<Key extends object, Value>(name: string): WeakMap<Key, Value> {
  const realm = globalThis as { [table: symbol]: WeakMap<Key, Value> };
  const symbol = Symbol.for(`oncefetch.opentelemetry.${name}`);
  realm[symbol] ??= new WeakMap();
  return realm[symbol];
}
