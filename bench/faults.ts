/**
 * What becomes of payments on a bad network and at a server that comes back, with us and with the peers: the same customers,
 * losses and server, on a virtual clock. `npm run bench:faults [-- operations]`
 */
import { createOnce, memoryStore } from 'oncefetch';
import { median, quantile, save, table } from './lib/stats.ts';
import { takeTime } from './lib/virtual.ts';
import { type Call, type Fetch, peers, versions } from './peers/index.ts';

const operations = Number(process.argv[2] ?? 400);
const LOSSES = [0.01, 0.05, 0.2, 0.5] as const;
/** The customer presses again when told that it failed, so often at most, after some seconds. */
const [PRESSES_MAX, PRESS_AFTER_MS] = [5, 5000] as const;
const [LATENCY_MS, LOST_AFTER_MS] = [100, 1000] as const;
const HERD = { clients: 1000, pressedWithinMs: 10_000, backAfterMs: 30_000, lastsMs: 120_000 } as const;

const time = takeTime();
/** The same numbers for every client (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A server that honours keys, behind a network. */
class Shop {
  readonly effects = new Map<string, number>();
  readonly arrivals: number[] = [];
  readonly #answers = new Map<string, string>();
  /** Says what becomes of a request: `lost` before the effect, `cut` after it, `down`: the server says 503. */
  readonly #fate: () => 'fine' | 'lost' | 'cut' | 'down';

  constructor(fate: () => 'fine' | 'lost' | 'cut' | 'down') {
    this.#fate = fate;
  }

  readonly fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const { order } = (await request.json()) as { order: string };
    const key = request.headers.get('idempotency-key') ?? '';
    this.arrivals.push(time.now());
    const fate = this.#fate();
    await time.sleep(fate === 'lost' || fate === 'cut' ? LOST_AFTER_MS : LATENCY_MS);
    if (fate === 'lost') throw new TypeError('fetch failed');
    if (fate === 'down') return new Response('', { status: 503 });
    const known = this.#answers.get(key);
    if (known === undefined) {
      this.#answers.set(key, order);
      this.effects.set(order, (this.effects.get(order) ?? 0) + 1);
    }
    if (fate === 'cut') throw new TypeError('fetch failed');
    const headers = { 'content-type': 'application/json', ...(known === undefined ? {} : { 'idempotent-replayed': 'true' }) };
    return new Response(`{"ok":true,"order":"${order}"}`, { status: 201, headers });
  };
}

/** One customer's device: presses for an order; `true` when told that it is done. */
type Device = (order: string) => Promise<boolean>;

const URL_ = 'https://shop.example/api/payments';
const bodyOf = (order: string): string => JSON.stringify({ order, amount: 1000 });

/** A peer knows no names: each press is a request with a key of its own, made by the app. */
const devicesOf: Record<string, (shop: Shop) => Promise<() => Device>> = {};
for (const [name, make] of Object.entries(peers))
  if (name !== 'ky, defaults')
    devicesOf[name] = async (shop) => {
      const call: Call = await make(shop.fetch);
      return () => (order) =>
        call(URL_, bodyOf(order), crypto.randomUUID()).then(
          () => true,
          () => false,
        );
    };
devicesOf['oncefetch'] = async (shop) => () => {
  // Devices share no tables, as the pages of one process do.
  Reflect.deleteProperty(globalThis, Symbol.for('oncefetch'));
  const once = createOnce({ namespace: 'bench', store: memoryStore(), fetch: shop.fetch });
  return (order) =>
    once.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: bodyOf(order), once: ['pay', order] }).then(
      ({ ok }) => ok,
      () => false,
    );
};

/** Until it is done, or the customer gives up. */
async function customer(device: Device, order: string): Promise<{ done: boolean; ms: number }> {
  const start = time.now();
  for (let press = 1; ; press++) {
    if (await device(order)) return { done: true, ms: time.now() - start };
    if (press === PRESSES_MAX) return { done: false, ms: time.now() - start };
    await time.sleep(PRESS_AFTER_MS);
  }
}

const summary = (shop: Shop, ends: readonly { done: boolean; ms: number }[]) => {
  const settled = ends.filter(({ done }) => done);
  const effects = [...shop.effects.values()];
  return {
    wanted: ends.length,
    settled: settled.length,
    medianMs: median(settled.map(({ ms }) => ms)),
    p95Ms: quantile(
      settled.map(({ ms }) => ms),
      0.95,
    ),
    requestsPerSettled: shop.arrivals.length / settled.length,
    /** Effects beyond the first of an order. */
    duplicates: effects.reduce((sum, count) => sum + count - 1, 0),
    /** Orders without an effect when all is over. */
    lost: ends.length - effects.length,
    /** Told "failed" to the end, though it had its effect. */
    untold: effects.length - settled.length,
  };
};

const lossy: Record<string, Record<string, ReturnType<typeof summary>>> = {};
for (const loss of LOSSES) {
  const results: Record<string, ReturnType<typeof summary>> = {};
  for (const [name, make] of Object.entries(devicesOf)) {
    const random = seeded(1 + loss * 1000);
    Math.random = seeded(7);
    const shop = new Shop(() => (random() < loss ? (random() < 0.5 ? 'lost' : 'cut') : 'fine'));
    const device = await make(shop);
    const ends = await time.run(Promise.all(Array.from({ length: operations }, (_, n) => customer(device(), `order-${n}`))));
    results[name] = summary(shop, ends);
  }
  lossy[loss] = results;
  console.log(
    table(
      [`${loss * 100} % lost`, 'median ms', 'p95 ms', 'requests', 'duplicates', 'lost', 'told failed'],
      Object.entries(results).map(([name, { medianMs, p95Ms, requestsPerSettled, duplicates, lost, untold }]) => [
        name,
        medianMs.toFixed(0),
        p95Ms.toFixed(0),
        requestsPerSettled.toFixed(2),
        duplicates,
        lost,
        untold,
      ]),
    ),
  );
}

/** Arrivals in each second, from the start of the outage on. */
const herd: Record<string, { perSecond: number[]; peakAfterReturn: number; whileDown: number } & ReturnType<typeof summary>> = {};
for (const [name, make] of Object.entries(devicesOf)) {
  const random = seeded(11);
  Math.random = seeded(13);
  const start = time.now();
  const shop = new Shop(() => (time.now() - start < HERD.backAfterMs ? 'down' : 'fine'));
  const device = await make(shop);
  const ends = await time.run(
    Promise.all(
      Array.from({ length: HERD.clients }, async (_, n) => {
        await time.sleep(random() * HERD.pressedWithinMs);
        return customer(device(), `order-${n}`);
      }),
    ),
  );
  const perSecond = Array.from({ length: HERD.lastsMs / 1000 }, () => 0);
  for (const at of shop.arrivals) perSecond[Math.min(perSecond.length - 1, Math.floor((at - start) / 1000))]! += 1;
  const [down, up] = [perSecond.slice(0, HERD.backAfterMs / 1000), perSecond.slice(HERD.backAfterMs / 1000)];
  herd[name] = { perSecond, peakAfterReturn: Math.max(...up), whileDown: down.reduce((sum, count) => sum + count, 0), ...summary(shop, ends) };
}
console.log(
  table(
    ['herd', 'while down', 'peak after', 'median ms', 'duplicates', 'lost'],
    Object.entries(herd).map(([name, { whileDown, peakAfterReturn, medianMs, duplicates, lost }]) => [
      name,
      whileDown,
      peakAfterReturn,
      medianMs.toFixed(0),
      duplicates,
      lost,
    ]),
  ),
);
save('faults', { versions, operations, presses: PRESSES_MAX, losses: LOSSES, lossy, herd: { ...HERD, results: herd } });
