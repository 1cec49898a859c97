/** What remains in memory after 100,000 operations: heap, handles, tables. `npm run bench:memory [-- operations]` */
import { createOnce, memoryStore } from 'oncefetch';
import { POST } from './lib/payment.ts';
import { save, table } from './lib/stats.ts';

const operations = Number(process.argv[2] ?? 100_000);
const SAMPLES = 10;
const AT_ONCE = 64;
const collect = globalThis.gc;
if (!collect) throw new Error('run it with --expose-gc');

const fetch = async (): Promise<Response> => new Response('{"ok":true}', { status: 201, headers: { 'content-type': 'application/json' } });
// Forgets each record when it is settled, as if another process kept the records, because this benchmark measures the
// memory outside the store.
const forgetful = memoryStore();
const once = createOnce({
  namespace: 'bench',
  fetch,
  store: {
    ...forgetful,
    async update(id, change, options) {
      const value = await forgetful.update(id, change, options);
      const stored = (await forgetful.read(id)) as { state?: string } | undefined;
      if (stored?.state === 'settled') await forgetful.update(id, () => ({ next: null, value: undefined }));
      return value;
    },
  },
});

async function sample() {
  await new Promise((done) => setTimeout(done, 50));
  collect?.();
  const realm = (globalThis as unknown as Record<symbol, Record<string, Map<string, unknown>>>)[Symbol.for('oncefetch')] ?? {};
  return {
    heap: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
    entries: Object.fromEntries(Object.entries(realm).flatMap(([name, { size }]) => (size === undefined ? [] : [[name, size]]))),
  };
}

let n = 0;
async function run(upTo: number): Promise<void> {
  const lane = async (): Promise<void> => {
    while (n < upTo) await (await once.fetch('http://127.0.0.1:9/pay', { ...POST, once: ['pay', ++n] })).text();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

// After this run, everything that grows only once has grown.
await run(operations / SAMPLES);
const samples = [{ operations: n, ...(await sample()) }];
for (let at = 2; at <= SAMPLES; at++) {
  await run((operations * at) / SAMPLES);
  samples.push({ operations: n, ...(await sample()) });
}
console.log(
  table(
    ['operations', 'heap, bytes', 'handles'],
    samples.map(({ operations, heap, handles }) => [operations, heap, handles]),
  ),
);
const [first, last] = [samples[0], samples.at(-1)];
if (!first || !last) throw new Error('nothing was measured');
const perOperation = (last.heap - first.heap) / (last.operations - first.operations);
console.log(`${perOperation.toFixed(2)} bytes an operation; tables: ${JSON.stringify(last.entries)}`);
save('memory', { samples, perOperation });
