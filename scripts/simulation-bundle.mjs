/** The simulation as one file that Node can run: sources import each other with the extension of what they become. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * @param {string} root - where `src` and `test/simulation` are
 * @returns {Promise<{ folder: string, main: string }>} a temporary folder, to be removed, and the file in it
 */
export async function bundleSimulation(root) {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-simulation-'));
  const main = join(folder, 'main.mjs');
  await build({
    entryPoints: [join(root, 'test/simulation/main.ts')],
    outfile: main,
    bundle: true,
    platform: 'node',
    format: 'esm',
    sourcemap: 'inline',
    logLevel: 'error',
    nodePaths: [join(import.meta.dirname, '../node_modules')],
  });
  return { folder, main };
}
