/**
 * Bundles the simulation into one file that Node can run. Node cannot run the sources themselves, because they import
 * each other as `.js`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * @param {string} root - where `src` and `test/simulation` are
 * @param {string} [entry] - the file to run
 * @returns {{ folder: string, main: string }} a temporary folder, to be removed, and the file in it
 */
export function bundleSimulation(root, entry = 'test/simulation/main.ts') {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-simulation-'));
  const main = join(folder, 'main.mjs');
  // `buildSync` starts esbuild anew each time. The long-lived service of the asynchronous API may be gone when it is
  // needed again after minutes.
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

/**
 * Limits of memory, in MB. Worlds are short-lived: with a young generation of this size, nearly all of a world is
 * garbage before the collector copies any of it. The states that an exploration has already visited stay in the old
 * generation.
 */
const NODE = ['--max-semi-space-size=32', '--max-old-space-size=8192'];

/**
 * Runs such a file in a separate process.
 *
 * @param {string} main
 * @param {readonly string[]} args
 * @param {'inherit' | 'pipe'} stdout
 * @returns {Promise<{ code: number, text: string }>}
 */
export const run = (main, args, stdout) =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...NODE, main, ...args], { stdio: ['ignore', stdout, 'inherit'] });
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, text }));
  });
