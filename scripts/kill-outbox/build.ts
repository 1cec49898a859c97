/** Builds the page and its service worker into a folder that the shop serves. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export async function buildOutbox(folder: string): Promise<void> {
  const make = (name: 'page' | 'worker', format: 'esm' | 'iife') =>
    build({
      entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
      bundle: true,
      format,
      outfile: join(folder, `${name}.js`),
      logLevel: 'error',
    });
  await Promise.all([make('page', 'esm'), make('worker', 'iife')]);
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><title>a shop</title><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
  );
}
