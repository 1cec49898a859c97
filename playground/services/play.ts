/**
 * Two services, several copies of each, a queue between them and a provider with a ledger. Copies are killed one after another.
 * Prints the numbers of the ledger. The exit code is 1 if an order was charged twice or not at all.
 *
 * With STORE=none each copy has its own store, and some orders are charged twice.
 *
 *     STORE=sqlite|redis|postgres|none npm run playground:services -- [--orders 200] [--copies 2] [--kills 30] [--kill-every 150]
 *         [--spans] [--metrics]
 *
 * `--spans` prints an example trace of each kind. `--metrics` starts Prometheus, which scrapes all processes, and stays
 * until Ctrl+C. With `--answers <file>` it instead asks every query of docs/grafana.json and writes the answers.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { type PrometheusServer, startPrometheus, withoutPrometheus } from '../../scripts/start-prometheus.ts';
import { freePort, startPostgres, startRedis } from '../../scripts/start-services.ts';
import { startShop } from '../start-shop.ts';
import type { Engine } from './common.ts';
import { Copies } from './copies.ts';
import { customers } from './customers.ts';
import { askDashboard, firstScrapes } from './dashboard.ts';
import { startQueue } from './queue.ts';
import { startTelemetry } from './telemetry.ts';
import { startCollector, stories } from './traces.ts';

const ENGINES: readonly string[] = ['sqlite', 'redis', 'postgres', 'none'];
const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '200' },
    copies: { type: 'string', default: '2' },
    kills: { type: 'string', default: '30' },
    'kill-every': { type: 'string', default: '150' },
    spans: { type: 'boolean', default: false },
    metrics: { type: 'boolean', default: false },
    answers: { type: 'string' },
  },
});
const [orders, copies, kills, killEveryMs] = [values.orders, values.copies, values.kills, values['kill-every']].map(Number) as [number, number, number, number];
const engine = (process.env['STORE'] ?? 'sqlite') as Engine;
if (!ENGINES.includes(engine)) throw new RangeError(`STORE must be one of ${ENGINES.join(', ')}, got ${engine}`);
const withPrometheus = values.metrics || values.answers !== undefined;
if (withPrometheus && withoutPrometheus !== undefined) {
  console.error(withoutPrometheus);
  process.exit(1);
}

/** The faults of the provider. Each key is still charged only once. */
const FAULTS = [
  // Two copies arrive at once, so that one of them finds the other in progress.
  { fault: 'duplicate', rate: 0.15 },
  { fault: 'lose-response', rate: 0.25 },
  // Leaves time for a kill while the answer is on its way: the provider has charged, and no copy knows.
  { fault: 'delay', rate: 0.5, ms: 300 },
] as const;
const SCRAPE_EVERY_MS = 1000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-services-'));
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];

/** Starts the store of this run. Returns its file, or the port of its server. */
async function startStore(): Promise<string> {
  if (engine === 'sqlite' || engine === 'none') return join(folder, 'once.db');
  if (engine === 'redis') {
    const server = await startRedis();
    stops.push(() => server.stop());
    return String(server.port);
  }
  const [server, { Client }, { postgresMigration }] = [await startPostgres(), (await import('pg')).default, await import('oncefetch/postgres')];
  stops.push(() => server.stop());
  const client = new Client(server.connection);
  await client.connect();
  await client.query(postgresMigration());
  await client.end();
  return String(server.port);
}

/** Writes the answers of Prometheus into a file, or keeps Prometheus running for somebody to look at. */
async function tellMetrics({ url }: PrometheusServer, from: number): Promise<void> {
  // The last counts arrive with the next scrape.
  await pause(2 * SCRAPE_EVERY_MS);
  if (values.answers !== undefined) return writeFileSync(values.answers, JSON.stringify(await askDashboard(url, from, Date.now(), SCRAPE_EVERY_MS)));
  console.log(`Prometheus has it at ${url}. With a Grafana that reaches it, import docs/grafana.json and choose the last 5 minutes. Ctrl+C ends it.`);
  await new Promise((resolve) => process.once('SIGINT', resolve));
}

const count = (rows: readonly { readonly n: number }[]) => ({
  all: rows.reduce((sum, { n }) => sum + n, 0),
  twice: rows.filter(({ n }) => n > 1).length,
  some: rows.length,
});

try {
  const start = performance.now();
  const [shop, queue, storeAt, collector, metricsPort] = [
    await startShop({ 'charge-ms': 20, 'retry-after': 0 }),
    await startQueue(),
    await startStore(),
    await startCollector(),
    await freePort(),
  ];
  stops.unshift(() => shop.stop());
  const db = new DatabaseSync(join(folder, 'orders.db'), { timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE receipts (key TEXT PRIMARY KEY, order_id TEXT, charge INTEGER)');
  const spans = process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? collector.url;
  const env = { STORE: engine, STORE_AT: storeAt, QUEUE: queue.url, PROVIDER: shop.url, ORDERS_DB: join(folder, 'orders.db'), SPANS: spans };
  const telemetry = startTelemetry('customers', spans, metricsPort);
  const orderCopies = new Copies('orders.ts', env);
  const url = await orderCopies.balanced();
  const billingCopies = new Copies('billing.ts', { ...env, ORDERS: url });
  stops.unshift(() => Promise.all([orderCopies.stop(), billingCopies.stop()]));
  await Promise.all([orderCopies.start(copies), billingCopies.start(copies)]);
  const jobs = { orders: orderCopies.metricsPorts, billing: billingCopies.metricsPorts, customers: [metricsPort] };
  const prometheus = withPrometheus ? await startPrometheus(jobs, SCRAPE_EVERY_MS) : undefined;
  if (prometheus) stops.unshift(() => prometheus.stop());
  const from = Date.now();
  if (prometheus) await firstScrapes(prometheus.url, 2 * copies + 1);
  console.log(`${copies} copies of orders and of billing on ${engine}; ${orders} orders, ${kills} kills`);

  for (const fault of FAULTS) await fetch(`${shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane: 'default', ...fault }) });
  let placed = false;
  const all = customers(url, orders, telemetry.feature).finally(() => (placed = true));
  const ended = () => placed && queue.open() === 0;
  // Kills a copy of billing only while it has a message: an idle copy has nothing that could be done twice.
  const killOne = [() => orderCopies.killOne(), () => billingCopies.killOne(queue.consumers())] as const;
  let killed = 0;
  while (killed < kills && !ended()) {
    const hit = killOne[(killed % 2) as 0 | 1]();
    if (hit) killed++;
    await pause(hit ? Math.random() * 2 * killEveryMs : 10);
  }
  await all;
  while (!ended()) await pause(20);

  const charges = count(shop.query<{ n: number }>('SELECT count(*) AS n FROM charges GROUP BY cart'));
  const receipts = count(db.prepare('SELECT count(*) AS n FROM receipts GROUP BY order_id').all() as { n: number }[]);
  db.close();
  const { messages, deliveries } = queue.counts;
  const wrong = charges.twice + receipts.twice + Math.abs(orders - charges.some) + Math.abs(orders - receipts.some) + Math.abs(orders - messages);
  console.log(`orders ${orders}, messages ${messages}, deliveries ${deliveries}, kills ${killed}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
  console.log(`charges ${charges.all}, charged twice ${charges.twice}, not charged ${orders - charges.some}`);
  console.log(`receipts ${receipts.all}, twice ${receipts.twice}, missing ${orders - receipts.some}`);
  if (wrong > 0) process.exitCode = 1;
  await telemetry.flush();
  if (values.spans)
    for (const [what, lines] of Object.entries(stories(collector.spans)))
      console.log([`\n${what}:`, ...(lines.length ? lines : ['  not in this run'])].join('\n'));
  if (prometheus) await tellMetrics(prometheus, from);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const stop of stops) await stop();
}
// The queue and the balancer are still listening, so the process would not end by itself.
process.exit();
