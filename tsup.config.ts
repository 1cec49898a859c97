import { readdirSync } from 'node:fs';
import { defineConfig, type Options } from 'tsup';
import { leanTwins } from './scripts/lean.mjs';

const folder = 'src/entries';

const all = Object.fromEntries(readdirSync(folder).map((file) => [file.replace(/\.tsx?$/, ''), `${folder}/${file}`]));
const { devtools: panel, ...entry } = all;

const common: Options = {
  entry,
  target: 'es2022',
  platform: 'neutral',
  splitting: true,
  external: [/^node:/, 'oncefetch'],
  // Without it `node:sqlite` becomes `sqlite`, which is no module.
  removeNodeProtocol: false,
};

/** What pages in production load: short texts, and no panel. Its types are those of the full build. */
const lean: Options = {
  ...common,
  entry: { 'index.lean': `${folder}/index.ts`, 'dialects.lean': `${folder}/dialects.ts`, 'devtools.off': 'src/devtools/off.ts' },
  esbuildPlugins: [leanTwins],
};

/** By itself: what it has in common with the client is little, and in chunks of their own it would weigh on every page. */
const devtools: Options = { ...common, entry: { devtools: panel as string } };

const esm: Options = { format: 'esm', sourcemap: true };
// The second pass that splits CJS leaves maps to itself, under this machine's paths. It stays readable without.
const cjs: Options = { format: 'cjs', sourcemap: false };

export default defineConfig([
  // The types of all entries at once; `scripts/build.mjs` makes those of CJS of them.
  { ...common, ...esm, dts: { entry: all } },
  { ...common, ...cjs },
  { ...devtools, ...esm },
  { ...devtools, ...cjs },
  { ...lean, ...esm },
  { ...lean, ...cjs },
  // The command, which runs in Node and is imported by nobody.
  { ...common, ...esm, entry: { cli: 'src/cli.ts' }, sourcemap: false },
  // One file for React Native: Metro would take a second copy for a `require`, and Jest there reads no ES module.
  {
    ...common,
    entry: { 'react-native.bundle': 'src/react-native-bundle.ts' },
    format: 'cjs',
    sourcemap: false,
    splitting: false,
    noExternal: [/.*/],
    // Hermes has no async generators.
    esbuildOptions: (options) => void Object.assign(options, { supported: { 'async-generator': false, 'for-await': false } }),
  },
]);
