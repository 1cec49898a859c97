/**
 * Goal: docs/runtimes.md says of each runtime exactly what the tests run in it. Method: compares its tables with the
 * lists of the tests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { APPS } from '../frameworks/support/apps.js';
import { RUNTIMES } from '../runtimes/support/runtimes.js';
import { readPage, root, tableUnder } from './support/markdown.js';

const rows = tableUnder(readPage('docs/runtimes.md'), '## What each is taken for');

/** The row of a runtime that the tests start, by the beginning of its name. */
const ROWS: readonly (readonly [name: RegExp, row: RegExp])[] = [
  [/^workerd (with nodejs_compat|of )/, /^workerd with/],
  [/^workerd/, /^workerd \(/],
  [/^edge-runtime/, /^edge-runtime/],
  [/^Deno/, /^Deno/],
  [/^Bun/, /^Bun/],
  [/^the oldest Node/, /^Node 20\.19/],
  [/^the newest Node/, /^Node 26/],
];
const rowOf = (name: string) => rows.find(([runtime = '']) => ROWS.find(([of]) => of.test(name))?.[1].test(runtime));

test.each(RUNTIMES.map(({ name, store }) => [name, store]))('%s has a row that says what was run', (name = '', store) => {
  const ran = rowOf(name)?.at(-1) ?? '';
  expect(ran).toContain('life, lost answer, two customers');
  if (store && store !== 'a database that it opened') expect(ran).toContain(store);
});

test('a row claims a contract and a restart on a store only if a test runs them', () => {
  for (const [runtime = '', , , , , ran = ''] of rows) {
    const stores = RUNTIMES.filter(({ name }) => rowOf(name)?.[0] === runtime).map(({ store }) => store);
    expect(ran.includes('contract and restart'), runtime).toBe(stores.some(Boolean));
  }
});

test('each framework whose app is tested has a row, with its version', () => {
  const PACKAGES: Readonly<Record<string, string>> = { next: 'next', 'react-router': 'react-router', sveltekit: '@sveltejs/kit' };
  const versions = Object.values(APPS).map(({ name, folder }) => {
    const told = JSON.parse(readFileSync(join(root, 'test/frameworks', folder, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
    const version = { ...told['dependencies'], ...told['devDependencies'] }[PACKAGES[folder] ?? ''] ?? '';
    return `${name} ${version.replace(/\.\d+$/, '')}`;
  });
  expect(tableUnder(readPage('docs/runtimes.md'), '## Frameworks').map(([framework]) => framework)).toEqual(versions);
});

test('the snippet of a Durable Object has the Worker in front of it, too', () => {
  const snippet = readPage('docs/runtimes.md')
    .text.split('```')
    .find((part) => part.includes('durableObjectStore(ctx.storage)'));
  expect(snippet).toContain('export default');
});

test('whoever reads about frames that `key: derived` helps reads what it needs', () => {
  const told = readPage('docs/browsers.md')
    .text.split('\n')
    .filter((line) => line.includes('`key: derived`'));
  expect(told.filter((line) => !line.includes('`hooks()`'))).toEqual([]);
});
