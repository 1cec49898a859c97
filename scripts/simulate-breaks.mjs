/**
 * Shows that the simulation notices faults: takes the safeties of `test/simulation/breaks.json` out of a copy of the sources, one at a
 * time, and simulates the scenario that is about it. Fails if a break stays unseen for more than one of four seeds. Only what the checkers say of
 * the broken sources and not of the unbroken ones, in the same worlds, counts as seen:
 * `npm run simulate:breaks -- [part of a name] [--operations 100]`.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { tryBreaks } from './breaks.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { operations: { type: 'string' } } });
/** About as many operations as one scenario has in `npm test`. A break that shows more rarely has a number of its own. */
const OPERATIONS = 100;
const SEEDS = [1, 1000, 2000, 3000];
const UNSEEN_MAX = 1;

/** @typedef {import('./breaks.mjs').Break & { readonly scenario: string, readonly operations?: number }} Break */

/**
 * @param {string} main
 * @param {string} scenario
 * @param {string} operations
 * @param {number} base
 * @returns {[checker: string, times: number][]}
 */
function complaints(main, scenario, operations, base) {
  const args = [main, '--json', '--scenario', scenario, '--operations', operations, '--base', String(base)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (!stdout) throw new Error(`the simulation printed nothing: ${stderr}`);
  return Object.entries(JSON.parse(stdout).checkers);
}

/** @param {string} sound */
function looks(sound) {
  /** @type {Map<string, Set<string>>} */
  const known = new Map();
  /**
   * The checkers that complain of the unbroken sources as well, so that they say nothing about a break.
   *
   * @param {string} scenario
   * @param {string} operations
   * @param {number} base
   */
  const complainsAnyway = (scenario, operations, base) => {
    const id = `${scenario} ${operations} ${base}`;
    if (!known.has(id)) known.set(id, new Set(complaints(sound, scenario, operations, base).map(([name]) => name)));
    return /** @type {Set<string>} */ (known.get(id));
  };
  /** @param {Break} broken @param {string} main */
  return ({ scenario, operations: own = OPERATIONS }, main) => {
    const operations = values.operations ?? String(own);
    const said = SEEDS.map((base) => {
      const anyway = complainsAnyway(scenario, operations, base);
      const fresh = complaints(main, scenario, operations, base).filter(([name]) => !anyway.has(name));
      const also = anyway.size ? ` (the unbroken sources: ${[...anyway].join(', ')})` : '';
      return { seen: fresh.length > 0, says: `seed ${base}: ${fresh.map(([name, n]) => `${name} ${n}`).join(', ') || 'unseen'}${also}` };
    });
    return { caught: said.filter(({ seen }) => !seen).length <= UNSEEN_MAX, says: said.map(({ says }) => says).join('; ') };
  };
}

tryBreaks('simulation', positionals[0], looks);
