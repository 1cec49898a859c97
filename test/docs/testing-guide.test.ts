/**
 * Goal: the tests that the guides show end within the five seconds that vitest allows, or within the time that they ask
 * for. Method: runs each of them against the real client and the real clock, because other snippets run on a faster
 * clock.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from './support/markdown.js';
import { snippets } from './support/snippets.js';
import { enter, leave } from './support/stage.js';
import { runTests } from './support/vitest.js';

const made = join(root, '.tmp', 'docs-in-time');
const tests = snippets.filter(({ source }) => source.includes("from 'vitest'"));

rmSync(made, { recursive: true, force: true });
mkdirSync(made, { recursive: true });
afterAll(() => rmSync(made, { recursive: true, force: true }));

test('there are tests in the guides', () => expect(tests.length).toBeGreaterThan(4));

const cases = tests.map((snippet) => [snippet.at, snippet] as const);
let runs = 0;

// Other tests may keep the processor busy meanwhile.
test.for(cases)('%s ends in time', { retry: 2 }, async ([, { source }]) => {
  // A module that was already imported does not run again, so each run gets its own file.
  const file = join(made, `${runs++}.ts`);
  writeFileSync(file, source.replaceAll("from 'vitest'", "from '../../test/docs/support/vitest.js'"));
  await enter('node');
  try {
    await import(/* @vite-ignore */ file);
    for (const { title, ms, limitMs } of await runTests()) expect(ms, title).toBeLessThan(limitMs);
  } finally {
    await leave();
  }
});
