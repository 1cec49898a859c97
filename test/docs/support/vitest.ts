/** What a snippet gets when it imports `vitest`: its tests run once the snippet has been loaded, inside the snippet's own test. */
import { show } from './stage.js';

export { expect } from 'vitest';

type Work = () => unknown;

/** The time limit that vitest gives a test without one, ms. */
const LIMIT_MS = 5000;

/** How long a test took, and how long it may take, ms. */
interface Took {
  readonly title: string;
  readonly ms: number;
  readonly limitMs: number;
}

const tests: { readonly title: string; readonly run: Work; readonly limitMs: number }[] = [];
const hooks: Readonly<Record<'beforeEach' | 'afterEach' | 'afterAll', Work[]>> = { beforeEach: [], afterEach: [], afterAll: [] };

export const test = (title: string, run: Work, limitMs = LIMIT_MS): void => void tests.push({ title, run, limitMs });
export const beforeEach = (run: Work): void => void hooks.beforeEach.push(run);
export const afterEach = (run: Work): void => void hooks.afterEach.push(run);
export const afterAll = (run: Work): void => void hooks.afterAll.push(run);

/** Runs the tests that a snippet has declared, and forgets them. */
export async function runTests(): Promise<readonly Took[]> {
  const took: Took[] = [];
  const all = tests.splice(0);
  const { beforeEach, afterEach, afterAll } = {
    beforeEach: hooks.beforeEach.splice(0),
    afterEach: hooks.afterEach.splice(0),
    afterAll: hooks.afterAll.splice(0),
  };
  for (const { title, run, limitMs } of all) {
    for (const hook of beforeEach) await hook();
    try {
      const began = performance.now();
      await run();
      took.push({ title, ms: performance.now() - began, limitMs });
      show(`passed: ${title}`);
    } finally {
      for (const hook of afterEach) await hook();
    }
  }
  for (const hook of afterAll) await hook();
  return took;
}
