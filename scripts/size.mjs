/**
 * Measures what a production page loads: bundles each case with its dependencies for a browser, minifies it, and
 * compresses it with gzip -9. Chunks that load later are counted separately. Prints a table. `size-budget.json` has the
 * limits, which `test/package/size.test.ts` enforces. `--by-file` shows how much each source file adds to createOnce.
 */
import './require-node.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { analyzeMetafile, build } from 'esbuild';
import { buildIfStale } from './build.mjs';
import { leanTwins } from './lean.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Size
 * @property {number} now Bytes before anything runs: the entry and all it imports statically.
 * @property {number} later Bytes of the chunks that are only reached by `import()`.
 * @property {number} budget
 */

/** @type {{ exports: Record<string, unknown>, peerDependencies: Record<string, string> }} */
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The entries of the package that were built, by import name. Another test checks that all were built. */
const entries = () =>
  Object.keys(manifest.exports)
    .filter((name) => name !== './package.json' && existsSync(join(root, 'dist', `${name === '.' ? 'index' : name.slice(2)}.js`)))
    .map((name) => `oncefetch${name.slice(1)}`);

/**
 * The source to bundle, by the name of the case. Peer dependencies don't count, except for ky, with which oncefetch is
 * compared.
 * @returns {Record<string, string>}
 */
const cases = () => ({
  ky: `export { default } from 'ky'`,
  createOnce: `export { createOnce } from 'oncefetch'`,
  'first snippet': `export { createOnce, outcomeOf } from 'oncefetch'`,
  'and pending, settle, forget, clear': `export { clear, createOnce, forget, outcomeOf, pending, settle } from 'oncefetch'`,
  ...Object.fromEntries(entries().map((entry) => [entry, `export * from '${entry}'`])),
  // These entries are measured together with a client: they need one, and every page that uses them has it.
  'oncefetch/form': `export { createOnce, outcomeOf } from 'oncefetch'; export { defineOnceForm } from 'oncefetch/form'`,
  'formAction of oncefetch/form': `export { createOnce, outcomeOf } from 'oncefetch'; export { formAction } from 'oncefetch/form'`,
  'oncefetch/react': `export { createOnce, outcomeOf } from 'oncefetch'; export * from 'oncefetch/react'`,
  'oncefetch/opentelemetry': `export { createOnce, outcomeOf } from 'oncefetch'; export * from 'oncefetch/opentelemetry'`,
});

/** Leaves the client out when the panel is measured: every page with a panel already has a client. @type {import('esbuild').Plugin} */
const withoutClient = { name: 'without-client', setup: (build) => build.onResolve({ filter: /^oncefetch$/ }, () => ({ path: 'oncefetch', external: true })) };

/** Bundles `contents` with the built files, found through `exports` as for a page. @param {string} contents @param {import('esbuild').Plugin[]} [plugins] */
const bundle = (contents, plugins = []) =>
  build({
    plugins,
    // Ignores the repository's tsconfig.json, whose paths point to the sources.
    tsconfigRaw: '{}',
    stdin: { contents, resolveDir: root },
    absWorkingDir: root,
    outdir: join(root, 'dist'),
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    external: ['node:*', ...(contents.includes(`from 'ky'`) ? [] : Object.keys(manifest.peerDependencies).flatMap((name) => [name, `${name}/*`]))],
    write: false,
    metafile: true,
    logLevel: 'error',
  });

/** @param {string} contents */
async function weigh(contents) {
  const { outputFiles, metafile } = await bundle(contents, contents.includes('oncefetch/devtools') ? [withoutClient] : []);
  const sizes = new Map(outputFiles.map(({ path, contents }) => [path, gzipSync(contents, { level: 9 }).length]));
  const chunks = Object.entries(metafile.outputs).map(([path, output]) => ({ path, ...output }));
  const reached = new Set(chunks.filter(({ entryPoint }) => entryPoint === '<stdin>').map(({ path }) => path));
  for (const path of reached) {
    for (const { kind, path: to, external } of metafile.outputs[path]?.imports ?? []) if (kind === 'import-statement' && !external) reached.add(to);
  }
  /** @param {boolean} now */
  const sum = (now) => chunks.filter(({ path }) => reached.has(path) === now).reduce((total, { path }) => total + (sizes.get(join(root, path)) ?? 0), 0);
  return { now: sum(true), later: sum(false) };
}

/** @returns {Promise<Record<string, Size>>} */
export async function measure() {
  buildIfStale();
  /** @type {Record<string, number>} */
  const budgets = JSON.parse(readFileSync(join(root, 'size-budget.json'), 'utf8'));
  const all = await Promise.all(
    Object.entries(cases()).map(async ([name, contents]) => /** @type {const} */ ([name, { ...(await weigh(contents)), budget: budgets[name] ?? 0 }])),
  );
  return Object.fromEntries(all);
}

if (import.meta.main) {
  const sizes = await measure();
  console.log('| bundle | gzip B | loaded later | budget |');
  console.log('| --- | --: | --: | --: |');
  /** @param {Size} size */
  const limit = ({ now, budget }) => (budget && now > budget ? `${budget}: ${now - budget} B over` : budget || '');
  for (const [name, size] of Object.entries(sizes)) console.log(`| ${name} | ${size.now} | ${size.later || ''} | ${limit(size)} |`);
  if (process.argv.includes('--by-file')) {
    const { metafile } = await bundle(`export { createOnce } from './src/entries/index.ts'`, [leanTwins]);
    console.log(await analyzeMetafile(metafile));
  }
}
