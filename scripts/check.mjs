/**
 * The checks to run while you work on a change: lint, types, and the fast tests, including the architecture tests. They
 * run in parallel.
 */
import './require-node.mjs';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const shell = process.platform === 'win32';

/**
 * TypeScript 7 checks types in half the time; TypeScript 6 stays for tools that need its API. After its first run, tsc
 * checks only changed files. It is limited to one thread, so that the tests get the other core.
 */
const CHECKS = {
  biome: 'node_modules/.bin/biome check --error-on-warnings .',
  tsc: 'node node_modules/typescript-native/bin/tsc --noEmit --singleThreaded --incremental --tsBuildInfoFile node_modules/.cache/check.tsbuildinfo',
  vitest: 'node_modules/.bin/vitest run --project unit',
};

const checks = Object.entries(CHECKS).map(async ([name, line]) => {
  const [command = '', ...args] = line.split(' ');
  const child = spawn(command, args, { cwd, shell, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  /** @type {number | null} */
  const status = await new Promise((resolve) => child.on('close', resolve));
  console.log(`${(await said).join('')}${name}: ${status === 0 ? 'ok' : 'FAILED'}`);
  if (status !== 0) process.exitCode = 1;
});
await Promise.all(checks);
