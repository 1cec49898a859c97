/**
 * Shows that the simulation notices faults: takes the safeties of `test/simulation/breaks.json` out of a copy of the sources, one at a
 * time, and simulates the scenario that is about it. Fails if a break stays unseen for more than one of four seeds:
 * `npm run simulate:breaks -- [part of a name] [--operations 100]`.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { tryBreaks } from './breaks.mjs';

/** By default about as many operations as one scenario has in `npm test`. */
const { values, positionals } = parseArgs({ allowPositionals: true, options: { operations: { type: 'string', default: '100' } } });
const SEEDS = [1, 1000, 2000, 3000];
const UNSEEN_MAX = 1;

/** @typedef {import('./breaks.mjs').Break & { readonly scenario: string }} Break */

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

/** @param {Break} broken @param {string} main */
function look({ scenario }, main) {
  const said = SEEDS.map((base) => complaints(main, scenario, base));
  return { caught: said.filter((one) => one === '').length <= UNSEEN_MAX, says: said.map((one, n) => `seed ${SEEDS[n]}: ${one || 'unseen'}`).join('; ') };
}

tryBreaks('simulation', positionals[0], () => look);
