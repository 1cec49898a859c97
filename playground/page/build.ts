/** Builds the page with Vite, against the built package: what the page runs is what a user would install. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** The front page, and those that a team can copy. */
const PAGES = ['index.html', 'checkout/index.html', 'form/index.html', 'once-form/index.html', 'outbox/index.html'];

/** Into `outDir`; the folder with the page. */
export async function buildPage(outDir = fileURLToPath(new URL('../dist', import.meta.url))): Promise<string> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    // Relative: the page may be served from a folder of a bigger site.
    base: './',
    // A build for production has no panel; this one is to show it.
    resolve: { alias: { 'oncefetch/devtools': fileURLToPath(new URL('../../dist/devtools.js', import.meta.url)) } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      rolldownOptions: {
        input: PAGES.map((page) => `${ROOT}${page}`),
        // "use client" is for bundlers of servers.
        onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
      },
    },
  });
  // A service worker is one file beside its page: its scope is its folder.
  await bundle({
    entryPoints: [`${ROOT}outbox/worker.ts`],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    minify: true,
    outfile: join(outDir, 'outbox/worker.js'),
  });
  return outDir;
}
