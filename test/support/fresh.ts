/** For test files that share a realm: what one file has in flight or in memory must not reach the next, and no file may leave screens on the page. */
import { afterAll, expect } from 'vitest';

type Realm = { [of: symbol]: { readonly screens?: ReadonlySet<unknown> } | undefined };

afterAll(() => {
  const realm = globalThis as unknown as Realm;
  const registry = realm[Symbol.for('oncefetch')];
  for (const name of ['oncefetch', 'oncefetch.memory']) delete realm[Symbol.for(name)];
  if ('document' in globalThis) expect(registry?.screens?.size ?? 0, 'screens that the tests of this file have left').toBe(0);
});
