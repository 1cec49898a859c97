/** For files that share a realm: what an earlier one has under way or in memory is nothing of the next one's, and no screen stays on a page. */
import { afterAll, expect } from 'vitest';

type Realm = { [of: symbol]: { readonly screens?: ReadonlySet<unknown> } | undefined };

afterAll(() => {
  const realm = globalThis as unknown as Realm;
  const registry = realm[Symbol.for('oncefetch')];
  for (const name of ['oncefetch', 'oncefetch.memory']) delete realm[Symbol.for(name)];
  if ('document' in globalThis) expect(registry?.screens?.size ?? 0, 'screens that the tests of this file have left').toBe(0);
});
