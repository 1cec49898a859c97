/** For esbuild and tsup: what a page in production gets. docs/decisions/0030-texts-and-builds.md says why. */
import { fileURLToPath } from 'node:url';

const twin = fileURLToPath(new URL('../src/texts/lean.ts', import.meta.url));

/** @type {import('esbuild').Plugin} */
export const leanTexts = {
  name: 'lean-texts',
  setup: (build) => void build.onResolve({ filter: /\/texts\/full\.js$/ }, () => ({ path: twin, sideEffects: false })),
};
