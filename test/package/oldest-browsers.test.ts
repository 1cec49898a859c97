/**
 * Goal: the oldest browsers that docs/runtimes.md names can run what pages load. Method: a bundler that would rewrite
 * newer syntax for these browsers changes nothing, and the code calls no newer built-in.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { root } from './installed.js';

const page = readFileSync(join(root, 'docs/runtimes.md'), 'utf8');
const [, chrome, firefox, safari] = /Chrome and Edge (\d+), Firefox (\d+), Safari ([\d.]+)\.\n/.exec(page) ?? [];

async function bundled(target: string | string[]): Promise<string> {
  const contents = `export * from 'oncefetch'; export * from 'oncefetch/dialects'; export * from 'oncefetch/form'; export * from 'oncefetch/react'`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    tsconfigRaw: '{}',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    external: ['react'],
    target,
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

test('these browsers support its syntax, and older versions of Firefox and Safari do not', async () => {
  const whole = await bundled('esnext');
  expect(whole.length).toBeGreaterThan(100_000);
  expect(await bundled([`chrome${chrome}`, `edge${chrome}`, `firefox${firefox}`, `safari${safari}`])).toBe(whole);
  expect(await bundled(['firefox89'])).not.toBe(whole);
  expect(await bundled(['safari14.1'])).not.toBe(whole);
});

// p-retry calls `throwIfAborted` only on a signal that it was given, and oncefetch gives it none.
test('it calls no newer built-in', async () => {
  const LATER = /\b(structuredClone|findLast|toSorted|toReversed|withResolvers|fromAsync|groupBy|isWellFormed|AbortSignal\.(any|timeout))\b/g;
  expect((await bundled('esnext')).match(LATER)).toBeNull();
});

test('it calls Object.hasOwn and at(), which set the limit for the age of a browser', async () => {
  expect((await bundled('esnext')).match(/Object\.hasOwn|\.at\(-1\)/g)?.length).toBeGreaterThan(1);
});
