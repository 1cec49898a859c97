/** The page of the comparison: an empty document with every lane in it, bundled from the current sources. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export async function buildLanes(folder: string): Promise<void> {
  const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  await build({
    entryPoints: [path('lanes/all.ts')],
    outfile: join(folder, 'lanes.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
    alias: { oncefetch: path('../../src/entries/index.ts') },
  });
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Lanes</title><script type="module" src="lanes.js"></script>');
}
