/** One of several processes that make calls on one SQLite file. Prints how many calls it made in its time, and how busy its event loop was. */
import { once as onceHeard } from 'node:events';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { POST } from './lib/payment.ts';
import { ANSWER } from './lib/turns.ts';

const [build = '', path = '', name = '', lanes = '1', warmUpMs = '0', ms = '0'] = process.argv.slice(2);
const { createOnce }: typeof import('oncefetch') = await import(join(resolve(build), 'index.js'));
const { sqliteStore }: typeof import('oncefetch/sqlite') = await import(join(resolve(build), 'sqlite.js'));
const fetch = async (): Promise<Response> => new Response(ANSWER, { status: 201, headers: { 'content-type': 'application/json' } });
const once = createOnce({ namespace: 'bench', store: sqliteStore({ path, busyTimeoutMs: 10_000 }), fetch });
let calls = 0;
const call = async (): Promise<unknown> => (await once.fetch('http://127.0.0.1:9/v1/payments', { ...POST, once: [name, ++calls] })).json();

async function load(ms: string): Promise<void> {
  const end = performance.now() + Number(ms);
  const lane = async (): Promise<void> => {
    while (performance.now() < end) await call();
  };
  await Promise.all(Array.from({ length: Number(lanes) }, lane));
}

await call();
console.log('ready');
await onceHeard(process.stdin, 'data');
// Warms up until the code is compiled, because a service runs for days.
await load(warmUpMs);
const before = calls;
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const busy = performance.eventLoopUtilization();
await load(ms);
const { utilization } = performance.eventLoopUtilization(busy);
console.log(JSON.stringify({ calls: calls - before, busy: utilization, delayMs: delay.percentile(99) / 1e6 }));
process.exit();
