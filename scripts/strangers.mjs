/**
 * Runs the test suites of other people's libraries that use fetch, once over plain fetch and once over `once.fetch`,
 * and compares the results test by test: `npm run test:strangers`, or `npm run test:strangers -- ky`. Clones and
 * installs each suite into `.tmp/strangers`; `--ky <address or folder>` clones it from elsewhere. Repeats the run with
 * one more feature of oncefetch switched off each time, so that each difference shows its cause. Exits with 1 if a test
 * ends differently even with all features off.
 */
import './require-node.mjs';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildIfStale } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const workshop = join(root, '.tmp', 'strangers');
const HOUR_MS = 3_600_000;

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} address
 * @property {string} tag
 * @property {string} program The test runner, in its folder.
 * @property {(folder: string) => readonly string[]} args Make it print TAP and run one test after the other, because some tests measure time.
 */

/** @type {readonly Suite[]} */
const suites = [
  {
    name: 'ky',
    address: 'https://github.com/sindresorhus/ky.git',
    tag: 'v2.0.2',
    program: 'node_modules/ava/entrypoints/cli.mjs',
    // browser.ts uses the fetch of a page, which this script does not replace.
    args: (folder) => ['--tap', '--serial', '--concurrency=1', '--timeout=2m', ...testsIn(folder).filter((file) => file !== 'test/browser.ts')],
  },
  {
    name: 'ofetch',
    address: 'https://github.com/unjs/ofetch.git',
    tag: 'v1.5.0',
    program: 'node_modules/vitest/vitest.mjs',
    args: () => ['run', '--reporter=tap-flat', '--no-file-parallelism'],
  },
];

/** @param {string} folder */
const testsIn = (folder) =>
  readdirSync(join(folder, 'test'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `test/${file}`);

/**
 * @typedef {object} Form
 * @property {string} what
 * @property {object} [options] Options of createOnce. Without them the form is plain fetch.
 * @property {boolean} [same] Whether every test must end as it does over plain fetch.
 */

/** @type {readonly Form[]} */
const forms = [
  { what: '`fetch`' },
  { what: '`once.fetch` as it comes', options: {} },
  { what: '… without sending again (`limits: { attempts: 1 }`)', options: { limits: { attempts: 1 } } },
  { what: '… and without keys for POSTs that have no name (`origins: []`)', options: { limits: { attempts: 1 }, origins: [] }, same: true },
];

/** @param {string} command @param {readonly string[]} args @param {string} cwd @param {Record<string, string>} [env] */
function run(command, args, cwd, env = {}) {
  const told = spawnSync(command, args, { cwd, env: { ...process.env, ...env }, encoding: 'utf8', timeout: HOUR_MS, maxBuffer: 2 ** 28 });
  if (told.error) throw told.error;
  return told;
}

/** @param {string} command @param {readonly string[]} args @param {string} cwd */
function must(command, args, cwd) {
  const { status, stderr } = run(command, args, cwd);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}

/** @param {Suite} suite @param {string} address */
function bring({ name, tag }, address) {
  const folder = join(workshop, `${name}-${tag}`);
  if (!existsSync(folder))
    must('git', ['clone', '--quiet', '--depth=1', '--branch', tag, existsSync(address) ? pathToFileURL(address).href : address, folder], root);
  if (!existsSync(join(folder, 'node_modules'))) must('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
  return folder;
}

/** Writes a module that replaces fetch by `once.fetch` before anything else runs. @param {object} options */
function preload(options) {
  const file = join(workshop, 'preload.mjs');
  const lines = [
    `import { createOnce } from ${JSON.stringify(pathToFileURL(join(root, 'dist/node.js')).href)};`,
    'const { fetch } = globalThis;',
    `globalThis.fetch = createOnce({ ...${JSON.stringify(options)}, fetch }).fetch;`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return pathToFileURL(file).href;
}

const RESULT = /^(not )?ok \d+ - (.*?)(?: # (SKIP|TODO).*| # time=.*)?$/;

/** How each test ended, by its title. @param {Suite} suite @param {string} folder @param {Form} form */
function results({ name, program, args }, folder, { what, options }) {
  const env = options ? { NODE_OPTIONS: `--import=${preload(options)}` } : {};
  const { stdout, stderr } = run(process.execPath, [join(folder, program), ...args(folder)], folder, env);
  /** @type {Map<string, string>} */
  const ends = new Map();
  for (const line of stdout.split('\n')) {
    const [found, not, title = '', skipped] = RESULT.exec(line) ?? [];
    if (found === undefined) continue;
    let own = title;
    for (let n = 2; ends.has(own); n++) own = `${title} (${n})`;
    ends.set(own, skipped ? 'skipped' : not ? 'failed' : 'passed');
  }
  if (ends.size === 0) throw new Error(`${name} over ${what}: no test ran\n${stdout}${stderr}`);
  return ends;
}

/** @param {Map<string, string>} plain @param {Map<string, string>} ours */
const differences = (plain, ours) =>
  [...new Set([...plain.keys(), ...ours.keys()])]
    .filter((title) => plain.get(title) !== ours.get(title))
    .map((title) => `${title}: ${plain.get(title) ?? 'did not run'} over fetch, ${ours.get(title) ?? 'did not run'} over once.fetch`);

/** @param {Suite} suite @param {string} address */
function compare(suite, address) {
  const folder = bring(suite, address);
  /** @type {Map<string, string>} */
  let plain = new Map();
  const rows = [`| ${suite.name} ${suite.tag}, over | tests | passed | other than over \`fetch\` |`, '| --- | --: | --: | --: |'];
  for (const form of forms) {
    const ends = results(suite, folder, form);
    if (!form.options) plain = ends;
    const other = differences(plain, ends);
    for (const line of other) console.log(`${suite.name} over ${form.what}: ${line}`);
    if (form.same && other.length > 0) process.exitCode = 1;
    rows.push(`| ${form.what} | ${ends.size} | ${[...ends.values()].filter((end) => end === 'passed').length} | ${other.length} |`);
  }
  console.log(`\n${rows.join('\n')}\n`);
}

const options = Object.fromEntries(suites.map(({ name }) => [name, { type: /** @type {const} */ ('string') }]));
const { values, positionals } = parseArgs({ options, allowPositionals: true });
mkdirSync(workshop, { recursive: true });
buildIfStale();
for (const suite of suites) {
  if (positionals.length === 0 || positionals.includes(suite.name)) compare(suite, String(values[suite.name] ?? suite.address));
}
