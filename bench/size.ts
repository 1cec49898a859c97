/** What a page pays: every entry beside the peers, bundled alike, and what createOnce is made of. `npm run bench:size` */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { measure } from '../scripts/size.mjs';
import { save, table } from './lib/stats.ts';
import { versions } from './peers/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const peersFolder = fileURLToPath(new URL('peers', import.meta.url));

const common = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
  write: false,
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'error',
} as const;

async function gzipOf(contents: string, resolveDir: string, plugins: Plugin[] = []): Promise<number> {
  const { outputFiles } = await build({ ...common, stdin: { contents, resolveDir }, plugins, external: ['node:*'] });
  return gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
}

const PEERS: Readonly<Record<string, string>> = {
  ky: `export { default } from 'ky'`,
  'axios + axios-retry': `export { default } from 'axios'; export { default as retry } from 'axios-retry'`,
  'fetch-retry': `export { default } from 'fetch-retry'`,
  'p-retry': `export { default } from 'p-retry'`,
  ofetch: `export { ofetch } from 'ofetch'`,
  'idempotent-fetch': `export { idempotentFetch } from 'idempotent-fetch'`,
  'workbox-background-sync': `export { Queue } from 'workbox-background-sync'`,
  '@tanstack/offline-transactions': `export { startOfflineExecutor } from '@tanstack/offline-transactions'`,
};

/** What createOnce can do, and the files that are there for nothing else. */
const FEATURES: Readonly<Record<string, readonly RegExp[]>> = {
  'the loop of attempts (p-retry, is-network-error)': [/node_modules\/(p-retry|is-network-error)\//],
  'keys (uuid v4, v5)': [/node_modules\/uuid\//],
  'IndexedDB (idb-keyval)': [/stores\/indexeddb/, /node_modules\/idb-keyval\//],
  localStorage: [/stores\/local-storage/],
  'what to do without a store: a chain, memory': [/stores\/(automatic|memory)/, /default-store/],
  'checks of options': [/src\/check\./, /src\/options\./],
  'errors and what they say': [/src\/errors\./],
  'reading answers: verdicts, the generic dialect': [/core\/verdict/, /dialects\/generic/, /core\/decide/],
  'claims: locks, leases, beginning': [/engine\/(claim|lease|place)\./, /core\/begin/],
  'driving attempts': [/engine\/(drive|attempt|fetching|prepared|halt|wait|budget)\./],
  'ends: settling, probing, reconcile, polling': [/engine\/(finish|poll)\./],
  'resume, move, pending, clear, settle, forget, sweep': [/engine\/(records|resume|sweep|handle)\./],
  'events, states, diagnostics': [/engine\/(observe|diagnostics)\./],
  'calls without a name': [/engine\/(unnamed|plain)\./],
  'run: any function': [/engine\/running\./],
  'the platform: browsers and Node': [/src\/platform\//],
};

/** Bundles createOnce without some files: what they export is there and is nothing. */
const without = (files: readonly RegExp[]): Plugin => ({
  name: 'without',
  setup({ onLoad }) {
    onLoad({ filter: /\.[mc]?[jt]s$/ }, async ({ path }) => {
      if (!files.some((file) => file.test(path))) return undefined;
      const { metafile } = await build({ entryPoints: [path], bundle: false, format: 'esm', write: false, outdir: root, metafile: true });
      const names = Object.values(metafile.outputs).flatMap((output) => output.exports);
      return { contents: names.map((name) => (name === 'default' ? 'let own; export { own as default };' : `export let ${name};`)).join('\n'), loader: 'js' };
    });
  },
});

const SOURCE = `export { createOnce } from './src/entries/index.ts'`;
const sizes = await measure();
const peers: Record<string, number> = {};
for (const [name, contents] of Object.entries(PEERS)) peers[name] = await gzipOf(contents, peersFolder);
const whole = await gzipOf(SOURCE, root);
const features: Record<string, number> = {};
for (const [name, files] of Object.entries(FEATURES)) features[name] = whole - (await gzipOf(SOURCE, root, [without(files)]));
const all = Object.values(FEATURES).flat();
features['all of these together'] = whole - (await gzipOf(SOURCE, root, [without(all)]));
save('size', { versions, entries: sizes, peers, whole, features });
console.log(table(['peer', 'gzip B'], Object.entries(peers)));
console.log(table(['part', 'gzip B'], Object.entries(features)));
