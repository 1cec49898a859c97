/**
 * Goal: the tests that the guides show end within the five seconds that vitest gives a test, or the time that they ask for. Method: each is run against
 * the real client and the real clock, where other snippets run on a faster one.
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

test('there are tests in the guides', () => {
  expect(tests.length).toBeGreaterThan(4);
});

const cases = tests.map((snippet) => [snippet.at, snippet] as const);
let runs = 0;

// Other tests may keep the processor busy meanwhile.
test.for(cases)('%s ends in time', { retry: 2 }, async ([, { source }]) => {
  // A module that was imported once does not run again.
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
