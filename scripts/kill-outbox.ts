/**
 * Kills pages, service workers and browsers at random moments while payments should continue without a page, then
 * compares the server's ledger with what the browser knows.
 * node scripts/kill-outbox.ts [--kills 300] [--seed 1]
 * Exit code 1 on any duplicate, loss or untrue outcome.
 */
import './require-node.mjs';
import { parseArgs } from 'node:util';
import { play, type Score } from './kill-outbox/play.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '300' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } } });

const start = performance.now();
let next = 0;
/** Prints progress every 25 kills, because a run may be long. */
const told = (so: readonly Score[]): void => {
  const kills = so.reduce((sum, score) => sum + score.kills, 0);
  if (kills < next) return;
  next = kills + 25;
  console.error(
    `${kills} kills, ${so.reduce((sum, { effects }) => sum + effects, 0)} effects, ${so.flatMap(({ violations }) => violations).length} violations`,
  );
};
const scores = await play({ kills: Number(values.kills), seed: Number(values.seed), told });
if (!scores) {
  console.log('Chromium is not installed. `node scripts/ensure-tools.mjs` says how to get it.');
  if (process.env['CI'] === 'true') process.exitCode = 1;
} else {
  const columns = ['kind', 'carts', 'kills', 'effects', 'alone', 'duplicates', 'lost'] as const;
  const line = (cells: readonly (string | number)[]) => cells.map((cell, n) => String(cell)[n < 1 ? 'padEnd' : 'padStart'](n < 1 ? 9 : 11)).join('');
  console.log(`${values.kills} kills in ${((performance.now() - start) / 1000).toFixed(0)} s (--seed ${values.seed})\n\n${line(columns)}`);
  for (const score of scores) console.log(line(columns.map((column) => score[column])));
  const violations = scores.flatMap((score) => score.violations);
  for (const violation of violations) console.log(`Violation: ${violation}`);
  if (violations.length > 0) process.exitCode = 1;
}
