/**
 * Shows that the exploration notices faults: breaks a copy of the sources, one line at a time, explores one variant within growing
 * bounds, and prints the shortest list of steps that reveals the break. Fails if a break survives, or if its list has 15 steps or
 * more: `npm run explore:breaks -- [part of a name] [--minutes 2]`, where the minutes limit the exploration of each bound.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { tryBreaks } from './breaks.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { minutes: { type: 'string', default: '2' } } });
const STEPS_MAX = 15;
/** The bounds to try, as [faults, switches], the smallest first. */
const BOUNDS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [0, 2],
  [1, 1],
  [2, 0],
  [1, 2],
  [2, 1],
];

/** @typedef {import('./breaks.mjs').Break & { readonly variants: readonly string[], readonly bounds?: readonly number[] }} Break */

/**
 * @param {string} main
 * @param {string} variant
 * @param {readonly number[]} bounds
 * @returns {{ kind: string, schedule: string, lines: string[] }[]}
 */
function found(main, variant, [faults, switches]) {
  const args = [main, '--json', '--variant', variant, '--faults', String(faults), '--switches', String(switches), '--minutes', values.minutes];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (!stdout) throw new Error(`the exploration printed nothing: ${stderr}`);
  return JSON.parse(stdout).found;
}

/** @param {string} sound */
function looks(sound) {
  /** @type {Map<string, Set<string>>} */
  const known = new Map();
  /**
   * The kinds of violations that the unbroken sources show as well, so that they say nothing about a break.
   *
   * @param {string} variant
   * @param {readonly number[]} bounds
   */
  const kindsOf = (variant, bounds) => {
    const id = `${variant} ${bounds}`;
    if (!known.has(id)) known.set(id, new Set(found(sound, variant, bounds).map(({ kind }) => kind)));
    return /** @type {Set<string>} */ (known.get(id));
  };
  /** @param {Break} broken @param {string} main */
  return ({ variants, bounds: own }, main) => {
    // A break with known bounds cannot be found within smaller ones, so those are not explored.
    for (const bounds of own ? [own] : BOUNDS)
      for (const variant of variants) {
        const fresh = found(main, variant, bounds).filter(({ kind }) => !kindsOf(variant, bounds).has(kind));
        const [first] = fresh.sort((a, b) => a.lines.length - b.lines.length);
        if (!first) continue;
        const steps = first.lines.filter((line) => !line.startsWith('VIOLATION')).length;
        return { caught: steps < STEPS_MAX, says: `${first.kind}; ${steps} steps with ${bounds[0]} faults and ${bounds[1]} switches: ${first.schedule}` };
      }
    return { caught: false, says: 'SURVIVED' };
  };
}

tryBreaks('explore', positionals[0], looks);
