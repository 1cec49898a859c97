/**
 * Two services, several copies of each, a queue between them and a provider with a ledger; every now and then one copy is
 * killed. Prints what the ledger says; exit code 1 if anybody was charged twice or not at all.
 *
 * With STORE=none each copy has a store of its own, and charges are made twice.
 *
 *     STORE=sqlite|redis|postgres|none npm run playground:services -- [--orders 200] [--copies 2] [--kills 30]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { createOnce, memoryStore } from 'oncefetch';
import { startPostgres, startRedis } from '../../scripts/start-services.ts';
import { startShop } from '../start-shop.ts';
import type { Engine } from './common.ts';
import { Copies } from './copies.ts';
import { startQueue } from './queue.ts';

const ENGINES: readonly string[] = ['sqlite', 'redis', 'postgres', 'none'];
const { values } = parseArgs({
  options: { orders: { type: 'string', default: '200' }, copies: { type: 'string', default: '2' }, kills: { type: 'string', default: '30' } },
});
const [orders, copies, kills] = [Number(values.orders), Number(values.copies), Number(values.kills)];
const engine = (process.env['STORE'] ?? 'sqlite') as Engine;
if (!ENGINES.includes(engine)) throw new RangeError(`STORE must be one of ${ENGINES.join(', ')}, got ${engine}`);

const KILL_EVERY_MS = 150;
const CUSTOMERS = 8;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-services-'));
const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];

/** Where the store is: a file, or the port of a server started for this run. */
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

/** Orders one after the other, and presses again until it is placed. */
async function customer(url: string, todo: string[]): Promise<void> {
  const once = createOnce({ store: memoryStore(), limits: { attemptMs: 3000 }, retry: { minDelayMs: 20, maxDelayMs: 200 } });
  for (let order = todo.pop(); order; order = todo.pop()) {
    const body = JSON.stringify({ order, amount: 100 });
    const press = () => once.fetch(`${url}/orders`, { method: 'POST', body, once: ['order', order as string] });
    while (
      !(await press().then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await pause(100);
  }
}

const count = (rows: readonly { readonly n: number }[]) => ({
  all: rows.reduce((sum, { n }) => sum + n, 0),
  twice: rows.filter(({ n }) => n > 1).length,
  some: rows.length,
});

try {
  const start = performance.now();
  const [shop, queue, storeAt] = [await startShop({ 'charge-ms': 20, 'retry-after': 0 }), await startQueue(), await startStore()];
  stops.unshift(() => shop.stop());
  const db = new DatabaseSync(join(folder, 'orders.db'), { timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE receipts (key TEXT PRIMARY KEY, order_id TEXT, charge INTEGER)');
  const env = { STORE: engine, STORE_AT: storeAt, QUEUE: queue.url, PROVIDER: shop.url, ORDERS_DB: join(folder, 'orders.db') };
  const orderCopies = new Copies('orders.ts', env);
  const url = await orderCopies.balanced();
  const billingCopies = new Copies('billing.ts', { ...env, ORDERS: url });
  stops.unshift(() => Promise.all([orderCopies.stop(), billingCopies.stop()]));
  await Promise.all([orderCopies.start(copies), billingCopies.start(copies)]);
  console.log(`${copies} copies of orders and of billing on ${engine}; ${orders} orders, ${kills} kills`);

  // Answers that come late are what a kill gets between: the provider has charged, and nobody here knows.
  await fetch(`${shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane: 'default', fault: 'delay', rate: 0.5, ms: 2 * KILL_EVERY_MS }) });
  const todo = Array.from({ length: orders }, (_, n) => `o-${n}`);
  let placed = false;
  const customers = Promise.all(Array.from({ length: CUSTOMERS }, () => customer(url, todo))).finally(() => (placed = true));
  const ended = () => placed && queue.open() === 0;
  // Of billing, one that has a message: in between there is nothing to do twice.
  const killOne = [() => orderCopies.killOne(), () => billingCopies.killOne(queue.consumers())] as const;
  let killed = 0;
  while (killed < kills && !ended()) {
    const hit = killOne[(killed % 2) as 0 | 1]();
    if (hit) killed++;
    await pause(hit ? Math.random() * 2 * KILL_EVERY_MS : 10);
  }
  await customers;
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
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const stop of stops) await stop();
}
// The queue's and the balancer's listeners.
process.exit();
