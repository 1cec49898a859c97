/**
 * Goal: the oldest browsers that docs/runtimes.md names can run what pages load. Method: a bundler that would have to change its
 * syntax for them changes nothing, and no built-in is called that came later.
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

test('its syntax is theirs, and that of no older Firefox and Safari', async () => {
  const whole = await bundled('esnext');
  expect(whole.length).toBeGreaterThan(100_000);
  expect(await bundled([`chrome${chrome}`, `edge${chrome}`, `firefox${firefox}`, `safari${safari}`])).toBe(whole);
  expect(await bundled(['firefox89'])).not.toBe(whole);
  expect(await bundled(['safari14.1'])).not.toBe(whole);
});

// p-retry asks a signal to `throwIfAborted` if it is given one, and it is given none.
test('no built-in came later', async () => {
  const LATER = /\b(structuredClone|findLast|toSorted|toReversed|withResolvers|fromAsync|groupBy|isWellFormed|AbortSignal\.(any|timeout))\b/g;
  expect((await bundled('esnext')).match(LATER)).toBeNull();
});

test('what decides is there: Object.hasOwn and at()', async () => {
  expect((await bundled('esnext')).match(/Object\.hasOwn|\.at\(-1\)/g)?.length).toBeGreaterThan(1);
});
