/**
 * Runs and prints `npm run schemes`. `--without <part>` removes a part of one scheme's server, and the run must then
 * fail. `--calm` makes no faults.
 */
import { parseArgs } from 'node:util';
import { withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import { schemes } from '../schemes.js';
import { runWithout } from './parts.js';
import { type Report, runScheme } from './run.js';
import { startServices, stopServices } from './services.js';
import { FAULTS } from './wire.js';

const COLUMNS = ['operations', 'effects', 'doubled', 'lost', 'lies', 'stuck', 'presses', 'refused', 'requests', 'deaths', 'seconds'] as const;

const cell = (report: Report, column: (typeof COLUMNS)[number]): string => {
  const value = report[column];
  return typeof value === 'object' ? String(value.length) : column === 'seconds' ? value.toFixed(1) : String(value);
};

const row = (cells: readonly string[]): string => cells.map((text, index) => (index === 0 ? text.padEnd(22) : text.padStart(11))).join('');

/** Whether the run found anything wrong. */
const isRed = ({ doubled, lost, lies, stuck }: Report): boolean => doubled.length + lost.length + lies.length + stuck.length > 0;

async function main(args: string[]): Promise<number> {
  const { values, positionals: asked } = parseArgs({ args, options: { without: { type: 'string' }, calm: { type: 'boolean' } }, allowPositionals: true });
  if (values.without !== undefined && asked.length !== 1) throw new Error('--without: name the one scheme whose part it is');
  for (const name of asked) if (!(name in schemes)) throw new Error(`there is no scheme ${name}: ${Object.keys(schemes).join(', ')}`);
  const names = asked.length > 0 ? asked : Object.keys(schemes);
  const run = values.without === undefined ? { calm: values.calm ?? false } : runWithout(names[0] ?? '', values.without);
  const services = await startServices(names.map((name) => schemes[name]?.server.on));
  const reports: Report[] = [];
  try {
    console.log(row(['scheme', ...COLUMNS]));
    for (const name of names) {
      const scheme = schemes[name];
      const missing = scheme?.server.on === 'postgres' ? withoutPostgres : scheme?.server.on === 'redis' ? withoutRedis : undefined;
      if (!scheme || missing) {
        console.log(`${name}: left out, ${missing}`);
        continue;
      }
      const report = await runScheme(name, scheme, services, run);
      reports.push(report);
      console.log(row([name, ...COLUMNS.map((column) => cell(report, column))]));
      for (const line of [...report.lies, ...report.stuck]) console.log(`  ${line}`);
    }
  } finally {
    await stopServices();
  }
  console.log('\nrequests by what they met on the wire:');
  for (const fault of FAULTS) console.log(`  ${fault.padEnd(26)}${reports.reduce((sum, { met }) => sum + met[fault], 0)}`);
  // A scheme that was named on the command line must run.
  const left = asked.length > 0 ? names.length - reports.length : 0;
  if (reports.length === 0 || left > 0) console.error(reports.length === 0 ? 'nothing was run' : `${left} of those that were asked for were not run`);
  return reports.length === 0 || left > 0 || reports.some(isRed) ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
