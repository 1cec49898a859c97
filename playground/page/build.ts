/** Builds the page with Vite from the built package, so that the page runs what a user installs. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** The front page, and the pages that a team can copy. */
const PAGES = ['index.html', 'checkout/index.html', 'form/index.html', 'once-form/index.html', 'outbox/index.html'];

/** Builds into a folder, and returns it. */
export async function buildPage(outDir = fileURLToPath(new URL('../dist', import.meta.url))): Promise<string> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    // Relative URLs, because a larger site may serve the page from a folder.
    base: './',
    // A production build would leave the panel out, but this page shows it.
    resolve: { alias: { 'oncefetch/devtools': fileURLToPath(new URL('../../dist/devtools.js', import.meta.url)) } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      rolldownOptions: {
        input: PAGES.map((page) => `${ROOT}${page}`),
        // "use client" matters only to bundlers for servers.
        onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
      },
    },
  });
  // A service worker is a single file beside its page, because the folder of that file is its scope.
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
