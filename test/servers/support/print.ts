/** What `npm run schemes` prints. */
import { withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import { schemes } from '../schemes.js';
import { type Report, runScheme } from './run.js';
import { startServices, stopServices } from './services.js';
import { FAULTS } from './wire.js';

const COLUMNS = ['operations', 'effects', 'doubled', 'lost', 'lies', 'presses', 'requests', 'deaths', 'seconds'] as const;

const cell = (report: Report, column: (typeof COLUMNS)[number]): string => {
  const value = report[column];
  return typeof value === 'object' ? String(value.length) : column === 'seconds' ? value.toFixed(1) : String(value);
};

const row = (cells: readonly string[]): string => cells.map((text, index) => (index === 0 ? text.padEnd(22) : text.padStart(11))).join('');

async function main(asked: readonly string[]): Promise<number> {
  for (const name of asked) if (!(name in schemes)) throw new Error(`there is no scheme ${name}: ${Object.keys(schemes).join(', ')}`);
  const names = asked.length > 0 ? asked : Object.keys(schemes);
  const services = await startServices();
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
      const report = await runScheme(name, scheme, services);
      reports.push(report);
      console.log(row([name, ...COLUMNS.map((column) => cell(report, column))]));
      for (const lie of report.lies) console.log(`  ${lie}`);
    }
  } finally {
    await stopServices();
  }
  console.log('\nrequests by what they met on the wire:');
  for (const fault of FAULTS) console.log(`  ${fault.padEnd(26)}${reports.reduce((sum, { met }) => sum + met[fault], 0)}`);
  return reports.some(({ doubled, lost, lies }) => doubled.length + lost.length + lies.length > 0) ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
