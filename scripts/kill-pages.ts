/**
 * Kills pages at random moments, in every browser that is installed, and compares the server's ledger with what customers were told.
 *
 *     node scripts/kill-pages.ts [--kills 300] [--engine chromium] [--seed 1] [--plain]
 *
 * Exit code 1 on any duplicate, loss or untrue outcome. `--plain` plays with fetch alone.
 */
import './require-node.mjs';
import { parseArgs } from 'node:util';
import { browsers } from './browsers.mjs';
import { play, type Score } from './kill-pages/play.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    engine: { type: 'string', multiple: true },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    plain: { type: 'boolean', default: false },
  },
});

const columns = ['engine', 'kind', 'carts', 'kills', 'effects', 'duplicates', 'lost', 'violations'] as const;
const widths = [10, 8, 7, 7, 9, 12, 6, 12];
const line = (cells: readonly (string | number)[]) => cells.map((cell, n) => String(cell)[n < 2 ? 'padEnd' : 'padStart'](widths[n] ?? 0)).join('');
const cellsOf = (score: Score) => columns.map((column) => (column === 'violations' ? score.violations.length : score[column]));

const scores: Score[] = [];
const missing: string[] = [];
for (const { name } of browsers.filter(({ name }) => values.engine?.includes(name) ?? true)) {
  const start = performance.now();
  const played = await play({ engine: name, kills: Number(values.kills), seed: Number(values.seed), plain: values.plain });
  if (!played) missing.push(name);
  else {
    scores.push(...played);
    console.log(`${name}: ${values.kills} kills in ${((performance.now() - start) / 1000).toFixed(0)} s (--seed ${values.seed})`);
  }
}

console.log(`\n${line(columns)}`);
for (const score of scores) console.log(line(cellsOf(score)));
const violations = scores.flatMap((score) => score.violations);
for (const violation of violations) console.log(`Violation: ${violation}`);
if (missing.length > 0) console.log(`Left out, because not installed: ${missing.join(' and ')}. \`node scripts/ensure-tools.mjs\` says how to get it.`);
if (violations.length > 0 || scores.length === 0 || (missing.length > 0 && process.env['CI'] === 'true')) process.exitCode = 1;
