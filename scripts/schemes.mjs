/**
 * Runs the schemes of docs/schemes and prints their counts: all of them with `npm run schemes`, some with `npm run
 * schemes -- etag-if-match state-machine`.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
mkdirSync(join(root, '.tmp'), { recursive: true });
// Inside the project, so that the bundle can resolve the project's packages.
const folder = mkdtempSync(join(root, '.tmp/schemes-'));
try {
  const main = join(folder, 'main.mjs');
  const entries = { oncefetch: join(root, 'src/entries/index.ts'), 'oncefetch/dialects': join(root, 'src/entries/dialects.ts') };
  // The bundle must start the servers from the folder that has their sources.
  const define = { 'import.meta.dirname': JSON.stringify(join(root, 'test/servers/support')) };
  await build({
    entryPoints: [join(root, 'test/servers/support/print.ts')],
    outfile: main,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    alias: entries,
    define,
    logLevel: 'error',
  });
  process.exitCode = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
