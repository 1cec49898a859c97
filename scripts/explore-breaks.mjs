/**
 * Shows that the exploration notices faults: breaks a copy of the sources, one line at a time, explores one variant within growing
 * bounds, and prints the shortest list of steps that reveals the break. Fails if a break survives, or if its list has 15 steps or
 * more: `node scripts/explore-breaks.mjs [part of a name] [--minutes 2]`, where the minutes limit the exploration of each bound.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleSimulation } from './simulation-bundle.mjs';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { minutes: { type: 'string', default: '2' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
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

/**
 * @typedef {{ readonly name: string, readonly file: string, readonly find: string, readonly replace: string, readonly variants: readonly string[], readonly bounds?: readonly number[] }} Break
 * @type {readonly Break[]}
 */
const BREAKS = JSON.parse(readFileSync(join(root, 'test/explore/breaks.json'), 'utf8'));

const copy = mkdtempSync(join(tmpdir(), 'oncefetch-explored-'));
for (const part of ['src', 'test/simulation', 'test/explore']) cpSync(join(root, part), join(copy, part), { recursive: true });

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

const sound = bundleSimulation(copy, 'test/explore/main.ts');
/** @type {Map<string, Set<string>>} */
const known = new Map();

/**
 * The kinds of violations that the unbroken sources show as well, so that they say nothing about a break.
 *
 * @param {string} variant
 * @param {readonly number[]} bounds
 */
function kindsOf(variant, bounds) {
  const id = `${variant} ${bounds}`;
  if (!known.has(id)) known.set(id, new Set(found(sound.main, variant, bounds).map(({ kind }) => kind)));
  return /** @type {Set<string>} */ (known.get(id));
}

/**
 * @param {Break} broken
 * @returns {{ caught: boolean, says: string }}
 */
function attempt({ file, find, replace, variants, bounds: known }) {
  const path = join(copy, 'src', file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(find)) return { caught: false, says: `src/${file} has changed: what was to be broken is not there` };
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  const { folder, main } = bundleSimulation(copy, 'test/explore/main.ts');
  try {
    // A break with known bounds cannot be found within smaller ones, so those are not explored.
    for (const bounds of known ? [known] : BOUNDS)
      for (const variant of variants) {
        const fresh = found(main, variant, bounds).filter(({ kind }) => !kindsOf(variant, bounds).has(kind));
        const [first] = fresh.sort((a, b) => a.lines.length - b.lines.length);
        if (!first) continue;
        const steps = first.lines.filter((line) => !line.startsWith('VIOLATION')).length;
        return { caught: steps < STEPS_MAX, says: `${first.kind}; ${steps} steps with ${bounds[0]} faults and ${bounds[1]} switches: ${first.schedule}` };
      }
    return { caught: false, says: 'SURVIVED' };
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
  rmSync(sound.folder, { recursive: true });
}
console.log(missed === 0 ? 'every break was caught' : `${missed} not caught`);
process.exitCode = missed === 0 ? 0 : 1;
