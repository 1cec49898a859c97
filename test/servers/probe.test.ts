/**
 * Goal: the probe accuses no honest server, and docs/probe.md says what it finds at each. Method: probes the server of
 * every scheme in its own process, which is also killed while it works, and the playground's server. UPDATE_DOCS=1
 * writes the findings into the page.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startShop } from '../../playground/start-shop.js';
import { withoutPostgres, withoutRedis } from '../../scripts/start-services.ts';
import type { ProbeTarget } from '../../src/probe/request.js';
import { readPage, root, tableUnder } from '../docs/support/markdown.js';
import { cellsOf, type Probed, probed } from '../probe/support/probed.js';
import { schemes } from './schemes.js';
import { judge } from './support/judge.js';
import { ASKS, type Asks, askAs } from './support/probed.js';
import { startServer } from './support/process.js';
import type { Services } from './support/run.js';
import { startServices, stopServices } from './support/services.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const PAGE = 'docs/probe.md';
const HEADING = '## What it says of honest servers';
const TIMES = { patienceMs: 1500, settleMs: 30 };
const said = new Map<string, readonly string[]>();

let services: Services = {};
beforeAll(async () => void (services = await startServices()));
afterAll(stopServices);

async function probeScheme(name: string, asks: Asks): Promise<Probed> {
  const scheme = schemes[name];
  if (!scheme) throw new Error(`there is no scheme ${name}`);
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-probed-'));
  const opened = { ...services, file: join(folder, 'ledger.db'), schema: `probe_${name.replaceAll('-', '_')}` };
  const child = startServer(name, opened);
  let port = await child.port();
  const truth = await judge(scheme.server, opened);
  const target: ProbeTarget = {
    url: () => `http://127.0.0.1:${port}/`,
    send: (request) =>
      ['usual', 'changed'].includes(request.payload) && request.login === 'own' ? askAs(asks, request, `http://127.0.0.1:${port}`) : undefined,
    count: async () => [...((await truth.all())[0]?.values() ?? [])].reduce((sum, count) => sum + count, 0),
    restart: async () => {
      await child.kill();
      port = await child.port();
    },
  };
  try {
    return await probed(target, { times: TIMES });
  } finally {
    await child.stop();
    await truth.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares the findings at a server with the page. */
const known = (name: string, result: Probed): void => {
  said.set(name, cellsOf(result));
  if (process.env['UPDATE_DOCS']) return;
  const row = tableUnder(readPage(PAGE), HEADING).find(([server]) => server?.includes(name));
  expect(row?.slice(1)).toEqual(cellsOf(result));
};

describe('schemes', () => {
  const missing = { sqlite: undefined, redis: withoutRedis, postgres: withoutPostgres };
  for (const [name, asks] of Object.entries(ASKS)) {
    const because = missing[schemes[name]?.server.on ?? 'sqlite'];
    test(name, async ({ skip }) => {
      skip(because !== undefined, because);
      known(name, await probeScheme(name, asks));
    });
  }

  test('are all probed', () => expect(Object.keys(ASKS)).toEqual(Object.keys(schemes)));
});

test('the playground', async () => {
  const shop = await startShop({ 'charge-ms': 60 });
  try {
    const cards: Readonly<Record<string, string>> = { refused: '4000000000000002' };
    const result = await probed(
      {
        url: () => `${shop.url}/api/payments`,
        send: ({ url, key, operation, payload, login }) =>
          payload === 'fails-once' || login !== 'own'
            ? undefined
            : fetch(url, {
                method: 'POST',
                headers: { 'idempotency-key': key },
                body: JSON.stringify({ cart: operation, amount: payload === 'changed' ? 20 : 10, card: cards[payload] ?? '4242424242424242' }),
              }),
        count: () => shop.query<{ n: number }>('SELECT count(*) AS n FROM charges')[0]?.n ?? 0,
        restart: () => shop.kill(),
      },
      { times: TIMES },
    );
    known('playground', result);
  } finally {
    await shop.stop();
  }
});

afterAll(() => {
  if (!process.env['UPDATE_DOCS']) return;
  const path = join(root, PAGE);
  const label = (name: string): string => (name === 'playground' ? 'the playground’s' : `[${name}](schemes/${name}.md)`);
  const rows = [...said].map(([name, found]) => `| ${[label(name), ...found].join(' | ')} |`);
  const table = ['| server | what it finds beside one effect | exit status |', '| --- | --- | ---: |', ...rows].join('\n');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/(## What it says of honest servers\n[\s\S]*?\n\n)\|[\s\S]*?\n(?!\|)/, `$1${table}\n`));
});
