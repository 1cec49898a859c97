/** What a page loads: every entry and every peer, bundled in the same way, and the parts of createOnce. `npm run bench:size` */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import * as dialects from 'oncefetch/dialects';
import { leanTwins } from '../scripts/lean.mjs';
import { measure } from '../scripts/size.mjs';
import { save, table } from './lib/stats.ts';

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
  const { outputFiles } = await build({ ...common, stdin: { contents, resolveDir }, plugins: [...plugins, leanTwins], external: ['node:*'] });
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

/** The features of createOnce, and the files that exist only for each. */
const FEATURES: Readonly<Record<string, readonly RegExp[]>> = {
  'IndexedDB (idb-keyval)': [/stores\/browser\/indexeddb/, /node_modules\/idb-keyval\//],
  localStorage: [/stores\/browser\/local-storage/],
  'what to do without a store: a chain, memory': [/stores\/(browser\/automatic|memory)/, /default-store/],
  'checks of options': [/src\/(check|options|option-spec.*)\./],
  'errors and what they say': [/src\/errors\./, /src\/texts\//],
  'reading answers: verdicts, the generic dialect': [/core\/verdict/, /dialects\/generic/, /core\/decide/],
  'claims: locks, leases, beginning': [/engine\/(claim|lease|address)\./, /core\/begin/],
  'driving attempts': [/engine\/(attempt-loop|halt|wait|budget)\./, /src\/http\//],
  'ends: settling, probing': [/engine\/(finish|failure|settle)\./],
  'removing what is over': [/engine\/sweep\./],
  'states, and what listeners are told': [/engine\/observe\./],
  'the platform: browsers, and servers that are not Node': [/src\/platform\//],
};

/** Bundles createOnce without some files: their exports exist, but are empty. */
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

/** Replaces the code of some files. */
const changed = (change: (path: string) => string | undefined): Plugin => ({
  name: 'changed',
  setup({ onLoad }) {
    onLoad({ filter: /\.[mc]?[jt]s$/ }, ({ path }) => {
      const contents = change(path);
      return contents === undefined ? undefined : { contents, loader: path.endsWith('ts') ? 'ts' : 'js' };
    });
  },
});

const instead = (file: RegExp, code: string | ((text: string) => string)) => (path: string) =>
  file.test(path) ? (typeof code === 'string' ? code : code(readFileSync(path, 'utf8'))) : undefined;

/** Changes that would make createOnce smaller, and how much each would save. docs/decisions/0004-size.md says why none was made. */
const CONSIDERED: Readonly<Record<string, (path: string) => string | undefined>> = {
  'private fields as plain ones': instead(/src\/(engine|stores)\//, (text) => text.replace(/(\.|^ +(?:readonly |get |async )*)#(\w+)/gm, '$1_$2')),
  'names of options that are not checked': instead(
    /src\/option-spec-lean\./,
    'export const checkClientOptions = () => {}, checkCallOptions = () => {}, checkRunOptions = () => {};',
  ),
};

const SOURCE = `export { createOnce } from './src/entries/index.ts'`;
const sizes = await measure();
const peers: Record<string, number> = {};
for (const [name, contents] of Object.entries(PEERS)) peers[name] = await gzipOf(contents, peersFolder);
const whole = await gzipOf(SOURCE, root);
const features: Record<string, number> = {};
for (const [name, files] of Object.entries(FEATURES)) features[name] = whole - (await gzipOf(SOURCE, root, [without(files)]));
const all = Object.values(FEATURES).flat();
features['all of these together'] = whole - (await gzipOf(SOURCE, root, [without(all)]));
/**
 * The features that a named `fetch` on IndexedDB does not need. The bundle without them would not start, but it shows
 * how large the rest is.
 */
const BESIDES = [
  'localStorage',
  'what to do without a store: a chain, memory',
  'checks of options',
  'removing what is over',
  'states, and what listeners are told',
];
const named = await gzipOf(SOURCE, root, [without(BESIDES.flatMap((name) => FEATURES[name] ?? []))]);
/** The bytes that each dialect adds to a page that has createOnce. */
const besides = async (names: string): Promise<number> => (await gzipOf(`${SOURCE}; export { ${names} } from './src/entries/dialects.ts'`, root)) - whole;
const factories = Object.keys(dialects).filter((name) => !/^(define|in)[A-Z]|Verdict$|^generic$/.test(name));
const added: Record<string, number> = {};
for (const name of factories) added[name] = await besides(name);
const allAdded = await besides(factories.join(', '));
/** The functions that take a client, and the features, whose additional bytes are measured. */
const FUNCTIONS = `outcomeOf pending resume resumeOne settle forget clear move run operation subscribe watch extend close retrying polling unnamed reconciling
  insecureOrigins background resumeInBackground`.split(/\s+/);
const functions: Record<string, number> = {};
for (const name of FUNCTIONS) functions[name] = (await gzipOf(`export { createOnce, ${name} } from './src/entries/index.ts'`, root)) - whole;
const considered: Record<string, number> = {};
for (const [name, change] of Object.entries(CONSIDERED)) considered[name] = whole - (await gzipOf(SOURCE, root, [changed(change)]));
save('size', { entries: sizes, peers, features, named, functions, dialects: added, allDialects: allAdded, considered });
console.log(table(['peer', 'gzip B'], Object.entries(peers)));
console.log(table(['part', 'gzip B'], Object.entries(features)));
console.log(table(['function', 'gzip B'], Object.entries(functions)));
console.log(table(['dialect', 'gzip B'], [...Object.entries(added), ['all of them', allAdded]]));
console.log(`named calls on IndexedDB, and nothing else: ${named} B`);
console.log(table(['considered', 'gzip B'], Object.entries(considered)));
