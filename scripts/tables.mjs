/** Writes docs/verdicts.md: every answer, how each dialect reads it, and what happens then. `test/tables` checks the page. */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-tables-'));
try {
  const main = join(folder, 'main.mjs');
  // The bundle must read the fixtures from the folder that has their sources.
  const define = { 'import.meta.dirname': JSON.stringify(join(root, 'test/dialects/support')) };
  await build({ entryPoints: [join(root, 'test/tables/main.ts')], outfile: main, bundle: true, platform: 'node', format: 'esm', define, logLevel: 'error' });
  const { status, stdout } = spawnSync(process.execPath, [main], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error('The tables could not be generated.');
  writeFileSync(join(root, 'docs/verdicts.md'), stdout);
  console.log(`docs/verdicts.md: ${stdout.split('\n').length} lines`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
