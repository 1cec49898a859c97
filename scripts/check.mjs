/** What every change is held to while it is made: lint, types, and the fast tests, architecture among them; side by side. */
import './require-node.mjs';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const shell = process.platform === 'win32';

// From the second time on, tsc looks at what has changed alone.
const checks = [
  'biome check --error-on-warnings .',
  'tsc --noEmit --incremental --tsBuildInfoFile node_modules/.cache/check.tsbuildinfo',
  'vitest run --project unit',
].map(async (line) => {
  const [command = '', ...args] = line.split(' ');
  const child = spawn(`node_modules/.bin/${command}`, args, { cwd, shell, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  /** @type {number | null} */
  const status = await new Promise((resolve) => child.on('close', resolve));
  console.log(`${(await said).join('')}${command}: ${status === 0 ? 'ok' : 'FAILED'}`);
  if (status !== 0) process.exitCode = 1;
});
await Promise.all(checks);
