/**
 * Compares oncefetch with code that people write by hand, by what happens to their customers: real pages in Chromium, a
 * real server and its ledger. Prints the table of `docs/why.md`. The exit code is 1 if another lane beats oncefetch in
 * a row.
 *
 * node playground/why.ts [--only oncefetch] [--write]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright';
import { headlessChromium } from '../scripts/browsers.mjs';
import { type Shop, startShop } from './start-shop.ts';
import { type Cell, cellOf } from './why/cell.ts';
import { LANES, type LaneName } from './why/lanes/names.ts';
import { buildLanes } from './why/page.ts';
import { SCENARIOS, type Scenario } from './why/scenarios.ts';
import { beaten, table, written } from './why/table.ts';

const { values: args } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } });
const lanes = (Object.keys(LANES) as LaneName[]).filter((lane) => args.only === undefined || lane === args.only);
if (lanes.length === 0) throw new RangeError(`--only must be one of ${Object.keys(LANES).join(', ')}, got ${args.only}`);

/** Each lane plays its scenarios one after another; all lanes run at the same time. */
async function play(browser: Browser, shop: Shop): Promise<ReadonlyMap<Scenario, ReadonlyMap<LaneName, Cell>>> {
  const rows = new Map(SCENARIOS.map((scenario) => [scenario, new Map<LaneName, Cell>()]));
  const through = async (lane: LaneName): Promise<void> => {
    for (const [scenario, row] of rows) row.set(lane, await cellOf(browser, shop, lane, scenario));
  };
  await Promise.all(lanes.map(through));
  return rows;
}

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-why-'));
const executablePath = headlessChromium();
await buildLanes(folder);
const [shop, browser] = await Promise.all([
  startShop({ public: folder, 'charge-ms': 400, 'retry-after': 1 }),
  chromium.launch({ args: ['--no-sandbox'], ...(executablePath !== undefined && { executablePath }) }),
]);
try {
  const rows = await play(browser, shop);
  console.log(table(rows, lanes));
  for (const { name } of beaten(rows)) {
    console.error(`oncefetch is not the best where: ${name}`);
    process.exitCode = 1;
  }
  if (args.write) written(fileURLToPath(new URL('../docs/why.md', import.meta.url)), table(rows, lanes));
} finally {
  await browser.close();
  await shop.stop();
  rmSync(folder, { recursive: true });
}
