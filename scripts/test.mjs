/** Every check there is, one after the other; the last line counts the tests. A check that fails does not hide the others. */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = join(root, 'reports');
const report = join(reports, 'vitest.json');

const BIN = 'node_modules/.bin';

/** @type {readonly [name: string, command: string, ...args: string[]][]} */
const checks = [
  ['tools', process.execPath, 'scripts/ensure-tools.mjs'],
  ['lint', `${BIN}/biome`, 'check', '--error-on-warnings', '.'],
  ['typecheck', `${BIN}/tsc`, '--noEmit'],
  ['build', process.execPath, 'scripts/build.mjs', '--if-stale'],
  [
    'tests',
    `${BIN}/vitest`,
    'run',
    '--project=!react-native',
    '--reporter=default',
    '--reporter=./scripts/skipped.mjs',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
];

/**
 * @param {{ testResults: readonly { status: string, name: string, assertionResults: readonly { status: string }[] }[] }} told
 */
function count({ testResults }) {
  const states = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  // A file that could not be loaded has no tests to fail.
  const broken = testResults.filter(({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'));
  const passed = states.filter((state) => state === 'passed').length;
  const failed = states.filter((state) => state === 'failed').length;
  return { passed, failed: failed + broken.length, skipped: states.length - passed - failed };
}

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports);

/** @type {string[]} */
const failing = [];
for (const [name, command, ...args] of checks) {
  const start = performance.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' });
  if (status !== 0) failing.push(name);
  console.log(`${name}: ${status === 0 ? 'ok' : 'FAILED'}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

const tests = existsSync(report) ? count(JSON.parse(readFileSync(report, 'utf8'))) : { passed: 0, failed: 0, skipped: 0 };
// A check that is no test counts as one when it fails, and so does a run of tests that fails with none failing.
const failed = tests.failed + failing.filter((name) => name !== 'tests' || tests.failed === 0).length;
if (failing.length > 0) console.log(`Failing: ${failing.join(', ')}`);
const line = `${tests.passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`;
writeFileSync(join(reports, 'summary.txt'), `${line}\n`);
console.log(line);
process.exitCode = failed > 0 ? 1 : 0;
