/** What a call costs in a page, with each of its stores, empty and full. `npm run bench:browsers [-- rounds]` */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Browser, type BrowserType, chromium, firefox } from 'playwright';
import { browsers, executableOf } from '../scripts/browsers.mjs';
import { ANSWER_PATH } from './lib/answers.ts';
import { median, type Spread, save, spread, table } from './lib/stats.ts';
import { ANSWER, type Rounds } from './lib/turns.ts';

const CALLS = 40;
const rounds = Number(process.argv[2] ?? 9);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const PARTS = { stores: 'benchStores', stages: 'benchStages', records: 'benchRecords', peers: 'benchPeers' } as const;

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [here(entry)],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    external: ['node:*'],
    nodePaths: [here('peers/node_modules')],
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
}

const scripts: Record<string, string> = { '/page.js': await bundle('page.ts'), '/peers.js': await bundle('page-peers.ts') };
const server = createServer((request, response) => {
  if (request.url === ANSWER_PATH) {
    request.resume();
    response.writeHead(201, { 'content-type': 'application/json' }).end(ANSWER);
    return;
  }
  const script = scripts[request.url ?? ''];
  // Isolating the page from other origins gives it a clock with a resolution of 5 µs.
  response.writeHead(200, {
    'content-type': script ? 'text/javascript' : 'text/html',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  });
  response.end(
    script ??
      `<!doctype html>${Object.keys(scripts)
        .map((path) => `<script type="module" src="${path}"></script>`)
        .join('')}`,
  );
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

const types: Readonly<Record<string, BrowserType>> = { chromium, firefox };
type Result = { version: string } & Partial<Record<keyof typeof PARTS | 'ratios' | 'first', Record<string, Spread>>>;
const results: Record<string, Result> = {};
const leftOut: Record<string, string> = {};

const ratio = (seen: Rounds, of: string, to: string): Spread => spread((seen[of] ?? []).map((value, round) => value / (seen[to]?.[round] ?? Number.NaN)));

const FIRST = [
  ['bare: database, lock and strict commit', false],
  ['IndexedDB: to the first byte', true],
] as const;

/** Measures each call in its own page and its own profile. */
async function firstOfPages(browser: Browser): Promise<Record<string, Spread>> {
  const seen: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++)
    for (const [name, ours] of round % 2 ? FIRST : [...FIRST].reverse()) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(url);
      await page.waitForFunction(() => 'benchFirst' in globalThis);
      (seen[name] ??= []).push(await page.evaluate((ours) => (globalThis as unknown as { benchFirst(ours: boolean): Promise<number> }).benchFirst(ours), ours));
      await context.close();
    }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, spread(values)]));
}

async function measure(name: string, type: BrowserType, executablePath: string): Promise<void> {
  const browser = await type.launch({
    executablePath,
    ...(name === 'firefox' ? { channel: 'moz-firefox' } : { args: ['--no-sandbox', '--disable-dev-shm-usage'] }),
  });
  try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(name, error));
    await page.goto(url);
    const result: Result = { version: browser.version() };
    for (const [part, run] of Object.entries(PARTS) as [keyof typeof PARTS, string][]) {
      await page.waitForFunction((run) => run in globalThis, run);
      const seen = await page.evaluate(
        ([run, rounds, calls]) => (globalThis as unknown as Record<string, (rounds: number, calls: number) => Promise<Rounds>>)[run]?.(rounds, calls),
        [run, rounds, CALLS] as const,
      );
      if (!seen) throw new Error(`${run} gave nothing`);
      result[part] = Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, spread(values)]));
      if (part === 'stores')
        result.ratios = {
          firstByte: ratio(seen, 'IndexedDB: to the first byte', 'bare: lock and strict commit'),
          whole: ratio(seen, 'IndexedDB: whole', 'bare: lock, strict and relaxed commit'),
          wholeRead: ratio(seen, 'IndexedDB: whole', 'bare: the same, and an answer read'),
          floorFirstByte: ratio(seen, 'bare: what a call cannot do without: to the first byte', 'bare: lock and strict commit'),
          floorWhole: ratio(seen, 'bare: what a call cannot do without: whole', 'bare: lock, strict and relaxed commit'),
        };
      if (part === 'records')
        result.ratios = {
          ...result.ratios,
          IndexedDB: ratio(seen, 'IndexedDB 100000', 'IndexedDB 10'),
          localStorage: ratio(seen, 'localStorage 5000', 'localStorage 10'),
        };
      console.log(
        table(
          [`${name}: ${part}`, 'µs'],
          Object.entries(seen).map(([name, values]) => [name, median(values).toFixed(0)]),
        ),
      );
    }
    await page.close();
    result.first = await firstOfPages(browser);
    results[name] = result;
  } finally {
    await browser.close();
  }
}

for (const browser of browsers) {
  const type = types[browser.name];
  const executable = executableOf(browser);
  if (!type) leftOut[browser.name] = 'its driver gives no way to run a page for minutes';
  else if (!executable) leftOut[browser.name] = `not installed: apt-get install ${browser.parts[0]?.debian}`;
  else
    await measure(browser.name, type, executable).catch((error) => {
      leftOut[browser.name] = String(error).split('\n')[0] ?? '';
      console.error(error);
    });
}
server.close();
save('browsers', { rounds, browsers: results, leftOut });
