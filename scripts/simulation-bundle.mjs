/** The simulation as one file that Node can run: sources import each other with the extension of what they become. */
import { spawn } from 'node:child_process';
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

/**
 * Room in MB. Worlds are short-lived: with this much nearly all of one is gone before anything of it is copied. The states that an
 * exploration has met stay.
 */
const NODE = ['--max-semi-space-size=32', '--max-old-space-size=8192'];

/**
 * Runs such a file in a process of its own.
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
