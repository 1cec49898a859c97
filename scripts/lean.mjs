/**
 * Replaces modules by their small twins in pages built for production, as a plugin for esbuild and tsup.
 * docs/decisions/0030-texts-and-builds.md and 0032-what-is-not-recognised.md say why.
 */
import { fileURLToPath } from 'node:url';

/** @param {string} path */
const source = (path) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/**
 * The modules that have a small twin, each with its twin. `test/architecture/arrows.ts` lists them, too.
 * @type {readonly (readonly [RegExp, string])[]}
 */
export const TWINS = [
  [/\/texts\/full\.js$/, source('texts/lean.ts')],
  [/\/option-spec\.js$/, source('option-spec-lean.ts')],
  [/\/arguments\.js$/, source('arguments-lean.ts')],
  [/\/definition-check\.js$/, source('dialects/definition-check-lean.ts')],
  [/\/memory-records\.js$/, source('stores/memory-records-lean.ts')],
  [/\/only-options\.js$/, source('stores/only-options-lean.ts')],
  [/\/memory-room\.js$/, source('engine/memory-room-lean.ts')],
  [/\/owner\.js$/, source('engine/owner-lean.ts')],
  [/\/nested\.js$/, source('engine/nested-lean.ts')],
  [/\/channel\.js$/, source('engine/channel-lean.ts')],
  [/\/native\.js$/, source('http/native-lean.ts')],
  [/\/fetch-options\.js$/, source('http/fetch-options-lean.ts')],
  [/\/platform\/detect\.js$/, source('platform/detect-lean.ts')],
];

/** @type {import('esbuild').Plugin} */
export const leanTwins = {
  name: 'lean-twins',
  setup(build) {
    for (const [filter, path] of TWINS) build.onResolve({ filter }, () => ({ path, sideEffects: false }));
  },
};
