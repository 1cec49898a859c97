/** Runs every check. The last line of output counts the tests. A failing check does not stop the others. */
import './require-node.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, getPriority, setPriority } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { browsers, executablesOf } from './browsers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const reports = join(root, 'reports');

const BIN = 'node_modules/.bin';
const TSC = 'node_modules/typescript-native/bin/tsc';

/** @typedef {readonly [name: string, command: string, ...args: string[]]} Check */

/** @param {string} name @param {string[]} projects @returns {Check} */
const tests = (name, ...projects) => [
  name,
  `${BIN}/vitest`,
  'run',
  ...projects.map((project) => `--project=${project}`),
  '--reporter=default',
  '--reporter=./scripts/skipped.mjs',
  '--reporter=json',
  `--outputFile.json=${join(reports, `${name}.json`)}`,
];

/** @type {Check} */
const tools = ['tools', process.execPath, 'scripts/ensure-tools.mjs'];
/** @type {Check[]} */
const checks = [
  ['lint', `${BIN}/biome`, 'check', '--error-on-warnings', '.'],
  // After the first run, here or in `npm run check`, tsc checks only changed files. It is limited to one thread, so that
  // the build gets the other core.
  ['typecheck', process.execPath, ...`${TSC} --noEmit --singleThreaded --incremental --tsBuildInfoFile node_modules/.cache/check.tsbuildinfo`.split(' ')],
  ['build', process.execPath, 'scripts/build.mjs', '--if-stale'],
];
/**
 * The failing checks: how each ended, and the last lines that it printed.
 * @type {Map<string, string>}
 */
const failing = new Map();
const KEPT_LENGTH = 4000;
const SECOND = 1000;

/** @param {Check} check @param {number} [priority] */
async function run([name, command, ...args], priority = constants.priority.PRIORITY_NORMAL) {
  const start = performance.now();
  const env = process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env;
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' });
  let last = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    last = (last + chunk).slice(-KEPT_LENGTH);
  });
  child.stderr.on('data', (chunk) => {
    process.stderr.write(chunk);
    last = (last + chunk).slice(-KEPT_LENGTH);
  });
  // Child processes inherit the priority. If this whole script runs under \`nice\`, a higher priority is neither allowed
  // nor wanted.
  if (child.pid !== undefined && priority > getPriority()) setPriority(child.pid, priority);
  const closed = once(child, 'close');
  const [status, signal] = await once(child, 'exit');
  // A process that the check leaves behind may keep these pipes open.
  await Promise.race([closed, setTimeout(SECOND)]);
  child.stdout.destroy();
  child.stderr.destroy();
  if (status !== 0) failing.set(name, `${name} ended with ${signal ?? status}. Its last lines:\n${last}`);
  console.log(`${name}: ${status === 0 ? 'ok' : 'FAILED'}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/**
 * @typedef {{ status: string, fullName: string, failureMessages?: readonly string[] }} Test
 * @typedef {{ status: string, name: string, message?: string, assertionResults: readonly Test[] }} TestFile
 */

/**
 * Repeats the failures at the end, because that is the part of a long log that people read.
 * @param {{ testResults: readonly TestFile[] }} told
 */
function tellFailures({ testResults }) {
  for (const { name, status, message, assertionResults } of testResults) {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName, failureMessages = [] } of failed) console.log(`\nFailed: ${file} > ${fullName}\n${failureMessages.join('\n').slice(0, 2000)}`);
    if (status === 'failed' && failed.length === 0) console.log(`\nFailed: ${file}\n${message ?? ''}`);
  }
}

/** @param {{ testResults: readonly TestFile[] }} told */
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

/** @param {readonly Check[]} checks */
async function inTurn(checks) {
  for (const check of checks) await run(check);
}

// These need another thousand packages, five runtimes, three frameworks and several minutes, so they run only on CI or
// when asked for.
const APART = ['runtimes', 'frameworks', 'react-native'];
const apart = process.env['CI'] === 'true' ? APART : [];
/** @type {Check[]} */
const installs = apart.length > 0 ? [['installs', process.execPath, 'scripts/beside.mjs', ...apart.map((name) => `test/${name}`)]] : [];
if (apart.length === 0) console.log(`left out: ${APART.map((name) => `npm run test:${name}`).join(', ')}`);

// Downloads mostly wait for the network, so the checks run at the same time.
await Promise.all([run(tools), inTurn(installs), ...checks.map((check) => run(check))]);
// Read only now, because the browsers have just been installed.
const here = browsers.filter((browser) => executablesOf(browser) !== undefined).map(({ name }) => name);
// Tests with databases and killed processes run first, then tests in pages. All of them mostly wait, so more of them
// run at once than there are cores. But a busy processor disturbs them: tests that kill processes need some CPU time at
// the right moment.
/** @param {number} times */
const atOnce = (times) => `--maxWorkers=${Math.ceil(times * Math.max(2, availableParallelism()))}`;
/** @type {Check} */
const inProcesses = [...tests('node', 'node'), atOnce(1.5)];
const inPages = here.map((name) => tests(name, name));
/** @type {Check[]} */
const endToEnd = here.includes('chromium') ? [[...tests('e2e', 'e2e'), atOnce(2)]] : [];
const low = constants.priority.PRIORITY_BELOW_NORMAL;
const waiting = async () => {
  await run(inProcesses);
  // The time limits of the playground's tests are generous enough for a busy processor, so these tests run beside the
  // browsers. Beside the tests above, they made those fail that count what happens within some seconds.
  await Promise.all([...inPages.map((check) => run(check)), ...endToEnd.map((check) => run(check, low))]);
};
// CPU-bound tests get what the waiting tests leave of the processor.
const counting = tests('tests', 'unit', 'lean', 'proof', 'docs', 'package');
const further = apart.map((name) => tests(name, name));
await Promise.all([waiting(), run(counting, low).then(() => inTurn(further))]);
const TESTS = [inProcesses, counting, ...further, ...inPages, ...endToEnd];

const counts = TESTS.map(([name]) => {
  const report = join(reports, `${name}.json`);
  const told = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { testResults: [] };
  tellFailures(told);
  const counted = count(told);
  // The run broke off, or failed for a reason that belongs to no test.
  if (counted.failed === 0 && failing.has(name)) console.log(`\nFailed: ${failing.get(name)}`);
  // A run that fails although no test failed counts as one failure.
  return { ...counted, failed: Math.max(counted.failed, failing.has(name) ? 1 : 0) };
});
/** @param {'passed' | 'failed' | 'skipped'} what */
const total = (what) => counts.reduce((sum, counted) => sum + counted[what], 0);
// A failed check counts as one failure, unless it is a run of tests, whose failures are counted already.
const failed = total('failed') + [...failing.keys()].filter((name) => !TESTS.some(([tests]) => tests === name)).length;
if (failing.size > 0) console.log(`Failing: ${[...failing.keys()].join(', ')}`);
const line = `${total('passed')} passed, ${failed} failed${total('skipped') > 0 ? `, ${total('skipped')} skipped` : ''}`;
writeFileSync(join(reports, 'summary.txt'), `${line}\n`);
console.log(line);
process.exitCode = failed > 0 ? 1 : 0;
