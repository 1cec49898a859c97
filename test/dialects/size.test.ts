/**
 * Goal: an app that uses one dialect pays for one. Method: each dialect is bundled alone, as for a page in production, and the bundle must not have the name
 * of another one.
 */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { leanTwins } from '../../scripts/lean.mjs';
import { factories, samples } from './support/all.js';

/** By where the key goes: what makes a dialect of data, with the code for this place. */
const BYTES_MAX: Readonly<Record<string, number>> = { header: 3020, 'header-sf': 2700, query: 3270, body: 3400, graphql: 4100 };

const root = join(import.meta.dirname, '../..');
const bundle = async (contents: string): Promise<string> => {
  const stdin = { contents, resolveDir: root };
  const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: 'esm', target: 'es2022', plugins: [leanTwins], write: false });
  return outputFiles[0]?.text ?? '';
};

test.each(factories)('%s brings no other dialect along', async (factory) => {
  const text = await bundle(`export { ${factory} } from './src/entries/dialects.ts'`);
  const own = samples[factory]?.dialect.name;
  const others = Object.values(samples).flatMap(({ dialect: { name } }) =>
    name !== own && name !== 'generic' && text.includes(`name:"${name}"`) ? [name] : [],
  );
  // Two dialects of one vendor share a file, but no code.
  expect(others).toEqual([]);
  expect(gzipSync(text, { level: 9 }).length).toBeLessThan(BYTES_MAX[samples[factory]?.dialect.carrier.split(':')[0] ?? ''] ?? 0);
});
