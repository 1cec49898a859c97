/** What a snippet gets for `vitest`: its tests run when the snippet has been loaded, inside the test of the snippet. */
import { show } from './stage.js';

export { expect } from 'vitest';

type Work = () => unknown;

const tests: { readonly title: string; readonly run: Work }[] = [];
const hooks: Readonly<Record<'beforeEach' | 'afterEach' | 'afterAll', Work[]>> = { beforeEach: [], afterEach: [], afterAll: [] };

export const test = (title: string, run: Work): void => void tests.push({ title, run });
export const beforeEach = (run: Work): void => void hooks.beforeEach.push(run);
export const afterEach = (run: Work): void => void hooks.afterEach.push(run);
export const afterAll = (run: Work): void => void hooks.afterAll.push(run);

/** Runs the tests that a snippet has declared, and forgets them. */
export async function runTests(): Promise<void> {
  const all = tests.splice(0);
  const { beforeEach, afterEach, afterAll } = {
    beforeEach: hooks.beforeEach.splice(0),
    afterEach: hooks.afterEach.splice(0),
    afterAll: hooks.afterAll.splice(0),
  };
  for (const { title, run } of all) {
    for (const hook of beforeEach) await hook();
    try {
      await run();
      show(`passed: ${title}`);
    } finally {
      for (const hook of afterEach) await hook();
    }
  }
  for (const hook of afterAll) await hook();
}
