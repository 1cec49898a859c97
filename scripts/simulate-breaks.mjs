/**
 * Shows that the simulation notices faults: takes the safeties of `test/simulation/breaks.json` out of a copy of the sources, one at a
 * time, and simulates the scenario that is about it. Fails if a break stays unseen for more than one of four seeds:
 * `node scripts/simulate-breaks.mjs [part of a name] [--operations 100]`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation } from './simulation-bundle.mjs';

/** By default about as many operations as one scenario has in `npm test`. */
const { values, positionals } = parseArgs({ allowPositionals: true, options: { operations: { type: 'string', default: '100' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const SEEDS = [1, 1000, 2000, 3000];
const UNSEEN_MAX = 1;

/**
 * @typedef {{ readonly name: string, readonly file: string, readonly find: string, readonly replace: string, readonly scenario: string }} Break
 * @type {readonly Break[]}
 */
const BREAKS = JSON.parse(readFileSync(join(root, 'test/simulation/breaks.json'), 'utf8'));

const copy = mkdtempSync(join(tmpdir(), 'oncefetch-simulated-'));
for (const part of ['src', 'test/simulation']) cpSync(join(root, part), join(copy, part), { recursive: true });

/**
 * @param {string} main
 * @param {string} scenario
 * @param {number} base
 * @returns {string} the checkers that complained, each with how often
 */
function complaints(main, scenario, base) {
  const args = [main, '--json', '--scenario', scenario, '--operations', values.operations, '--base', String(base)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (!stdout) throw new Error(`the simulation printed nothing: ${stderr}`);
  return Object.entries(JSON.parse(stdout).checkers)
    .map(([name, n]) => `${name} ${n}`)
    .join(', ');
}

/**
 * @param {Break} broken
 * @returns {{ caught: boolean, says: string }}
 */
function attempt({ file, find, replace, scenario }) {
  const path = join(copy, 'src', file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(find)) return { caught: false, says: `src/${file} has changed: what was to be broken is not there` };
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  const { folder, main } = bundleSimulation(copy);
  try {
    const said = SEEDS.map((base) => complaints(main, scenario, base));
    return { caught: said.filter((one) => one === '').length <= UNSEEN_MAX, says: said.map((one, n) => `seed ${SEEDS[n]}: ${one || 'unseen'}`).join('; ') };
  } finally {
    rmSync(folder, { recursive: true });
    writeFileSync(path, text);
  }
}

const only = positionals[0];
let missed = 0;
try {
  for (const broken of BREAKS.filter(({ name }) => only === undefined || name.includes(only))) {
    const { caught, says } = attempt(broken);
    if (!caught) missed++;
    console.log(`${caught ? 'caught' : 'MISSED'}  ${broken.name}\n        ${says}`);
  }
} finally {
  rmSync(copy, { recursive: true });
}
console.log(missed === 0 ? 'every break was caught' : `${missed} not caught`);
process.exitCode = missed === 0 ? 0 : 1;
