/**
 * The comparison without a browser: the same customers, shop and faults for three ways to send a payment, over real
 * HTTP, against the real server and its SQLite ledger. Prints a table. The exit code is 1 if oncefetch charged anybody
 * twice, lost a payment or said something untrue. It is also 1 if the faults did no harm to plain fetch, because then
 * the comparison proves nothing.
 *
 * node playground/compare.ts [--checkouts 36] [--entry dist/index.js] [--only oncefetch]
 */
import { parseArgs } from 'node:util';
import { type Checkout, PRESSES_AGAIN_MAX, serve } from './compare/customer.ts';
import { fetchLane, type Lane, naiveRetryLane, PATIENCE_MS } from './compare/lanes.ts';
import { onceLane } from './compare/once-lane.ts';
import { type Scenario, scenarios } from './compare/scenarios.ts';
import { headline, type Line, median, render, sum } from './compare/table.ts';
import { type Shop, startShop } from './start-shop.ts';

const CONCURRENCY = 12;
const { values: args } = parseArgs({
  options: { checkouts: { type: 'string', default: '36' }, entry: { type: 'string', default: 'src/entries/index.ts' }, only: { type: 'string' } },
});
const checkouts = Number(args.checkouts);
if (!Number.isInteger(checkouts) || checkouts < 1) throw new RangeError(`--checkouts must be a whole number from 1, got ${args.checkouts}`);

/** Plays every scenario in one lane. Each lane has its own shop, so that killing one shop disturbs no other lane. */
async function run(lane: Lane): Promise<readonly Line[]> {
  const shop = await startShop({ 'charge-ms': 4, 'retry-after': 0 });
  try {
    const lines: Line[] = [];
    for (const scenario of scenarios) lines.push(await runScenario(lane, scenario, shop));
    return lines;
  } finally {
    await shop.stop();
  }
}

async function runScenario(lane: Lane, scenario: Scenario, shop: Shop): Promise<Line> {
  const laneName = `${lane.name}: ${scenario.name}`;
  const faults = scenario.rates ?? {};
  for (const [fault, rate] of Object.entries(faults)) await post(shop, '/api/faults', { lane: laneName, fault, rate, ms: 2 * PATIENCE_MS });
  const todo = Array.from(
    { length: checkouts },
    (_, index): Checkout => ({
      shop,
      lane: laneName,
      cart: `${scenario.name}-${index}`,
      amount: 1000 + index,
      fault: scenario.faultOf?.(index),
      clicks: scenario.clicks ?? 1,
    }),
  );
  await post(shop, '/api/intents', { intents: todo.map(({ lane, cart }) => ({ lane, cart })) });

  const waiting = [...todo];
  const served: Awaited<ReturnType<typeof serve>>[] = [];
  const till = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) served.push(await serve(next, lane));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, till));
  await quiet(shop);

  // Reads the SQLite file directly, so that neither the server nor a client can get the numbers wrong.
  const made = new Map(
    shop
      .query<{ cart: string; made: number }>('SELECT cart, count(*) AS made FROM charges WHERE lane = ? GROUP BY cart', laneName)
      .map((row) => [row.cart, row.made]),
  );
  const facts = served.map(({ checkout, believes, ms }) => ({ made: made.get(checkout.cart) ?? 0, believes, ms }));
  return {
    lane: lane.name,
    fault: scenario.name,
    wanted: facts.length,
    made: sum(facts.map(({ made }) => made)),
    duplicates: sum(facts.map(({ made }) => Math.max(made - 1, 0))),
    harmedTwice: facts.filter(({ made }) => made > 1).length,
    lost: facts.filter(({ made }) => made === 0).length,
    untrue: facts.filter(({ made, believes }) => (believes === 'done' && made === 0) || (believes === 'none' && made > 0)).length,
    medianMs: median(facts.map(({ ms }) => ms)),
  };
}

/** Resolves when the shop is idle: it may still charge for a payment that its client gave up on. */
async function quiet(shop: Shop): Promise<void> {
  for (let calm = 0; calm < 3; ) {
    const busy = await shop.health().then(
      ({ busy }) => busy,
      () => 1,
    );
    calm = busy === 0 ? calm + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const post = (shop: Shop, path: string, body: unknown) => fetch(shop.url + path, { method: 'POST', body: JSON.stringify(body) });

const once = await onceLane(args.entry);
const lanes = [fetchLane, naiveRetryLane, once].filter(({ name }) => args.only === undefined || name === args.only);
if (lanes.length === 0) throw new RangeError(`--only must be plain fetch, naive retry or oncefetch, got ${args.only}`);
const startedAt = performance.now();
const lines = (await Promise.all(lanes.map(run))).flat();

const names = lanes.map(({ name }) => name);
console.log(`${headline(lines, names)}

${checkouts * scenarios.length} checkouts a lane: ${checkouts} customers under each of ${scenarios.length} faults.
Customers: one who sees an error presses Pay again, at most ${PRESSES_AGAIN_MAX} times, in every lane. Every lane gives up an attempt after ${PATIENCE_MS} ms.
lost: no charge stands for what the customer wanted, although the client believes it done or the customer has given up.
untrue: the client's last word contradicts the ledger: "paid" without a charge, or "failed" (which is all that a thrown error says) with one.
`);
console.log(render(lines, names));
console.log(`\n${((performance.now() - startedAt) / 1000).toFixed(1)} s`);

const of = (lane: Lane, count: (line: Line) => number) => sum(lines.filter((line) => line.lane === lane.name).map(count));
if (of(once, ({ duplicates, lost, untrue }) => duplicates + lost + untrue) > 0) {
  console.error('oncefetch failed: see its lines above');
  process.exitCode = 1;
}
if (lanes.includes(fetchLane) && of(fetchLane, ({ duplicates }) => duplicates) === 0) {
  console.error('the faults did no harm to plain fetch, so the comparison proves nothing');
  process.exitCode = 1;
}
