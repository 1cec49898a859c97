/** The simulation as one file that Node can run: sources import each other with the extension of what they become. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * @param {string} root - where `src` and `test/simulation` are
 * @param {string} [entry] - what is to be run
 * @returns {{ folder: string, main: string }} a temporary folder, to be removed, and the file in it
 */
export function bundleSimulation(root, entry = 'test/simulation/main.ts') {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-simulation-'));
  const main = join(folder, 'main.mjs');
  // In a process of its own each time: a service that lives for minutes may be gone when it is wanted again.
  buildSync({
    entryPoints: [join(root, entry)],
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
