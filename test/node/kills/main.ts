/** The long run of kills: `npm run test:long`, or `npm run test:long -- --kills 99 --store redis`. */
import { parseArgs } from 'node:util';
import { type Figures, type Kind, killRun } from './run.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '1000' }, store: { type: 'string', multiple: true } } });
const kinds = (values.store ?? ['sqlite', 'redis', 'postgres']) as Kind[];
const each = Math.ceil(Number(values.kills) / kinds.length);
const rows: Record<string, Figures & { seconds: number }> = {};
for (const kind of kinds) {
  const start = performance.now();
  rows[kind] = { ...(await killRun(kind, each)), seconds: Math.round((performance.now() - start) / 1000) };
  console.log(kind, JSON.stringify(rows[kind]));
}
console.table(rows);
const wrong = Object.values(rows).filter(({ duplicates, lost, pending }) => duplicates + lost + pending > 0);
process.exitCode = wrong.length > 0 ? 1 : 0;
