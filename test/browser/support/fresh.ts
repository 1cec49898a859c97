/** For files that share a page: what an earlier one has under way or in memory is nothing of the next one's, and no screen stays. */
import { afterAll, expect } from 'vitest';

type Realm = { [of: symbol]: { readonly screens?: ReadonlySet<unknown> } | undefined };

afterAll(() => {
  const realm = globalThis as unknown as Realm;
  const registry = realm[Symbol.for('oncefetch')];
  for (const name of ['oncefetch', 'oncefetch.memory']) delete realm[Symbol.for(name)];
  expect(registry?.screens?.size ?? 0, 'screens that the tests of this file have left').toBe(0);
});
