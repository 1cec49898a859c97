/**
 * The same clients as in `node.ts`, over a real connection to a server on this machine, one call at a time and 64 at
 * once. `npm run bench:loopback [-- rounds]`
 */
import { fork } from 'node:child_process';
import { once as event } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOnce, memoryStore } from 'oncefetch';
import { sqliteStore } from 'oncefetch/sqlite';
import { type Compared, costOf, interleaved } from './lib/interleaved.ts';
import { BODY, POST } from './lib/payment.ts';
import { save, table } from './lib/stats.ts';
import { type Call, peers } from './peers/index.ts';

const CALLS = { 1: 150, 64: 640 } as const;
const rounds = Number(process.argv[2] ?? 10);

const server = fork(new URL('loopback-server.ts', import.meta.url));
const [port] = await event(server, 'message');
const url = `http://127.0.0.1:${port}/v1/payments`;
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-bench-'));

let n = 0;
const through = (store: ReturnType<typeof memoryStore>): Call => {
  const once = createOnce({ namespace: 'bench', store });
  return async () => (await once.fetch(url, { ...POST, once: ['pay', ++n] })).json();
};
const clients: Record<string, Call> = {};
for (const [name, make] of Object.entries(peers)) clients[name] = await make(globalThis.fetch);
clients['oncefetch, memory'] = through(memoryStore());
clients['oncefetch, SQLite'] = through(sqliteStore({ path: join(folder, 'once.db') }));

const results: Record<string, Record<string, Compared>> = {};
for (const atOnce of [1, 64] as const) {
  results[atOnce] = await interleaved(Object.keys(clients), 'plain fetch', rounds, (name) =>
    costOf(() => (clients[name] as Call)(url, BODY, `k-${++n}`), CALLS[atOnce], atOnce),
  );
  console.log(
    table(
      [`${atOnce} at once`, 'to plain fetch', 'CPU, µs'],
      Object.entries(results[atOnce]).map(([name, { ratio, cpu }]) => [name, ratio.median.toFixed(2), cpu.median.toFixed(0)]),
    ),
  );
}
server.disconnect();
rmSync(folder, { recursive: true, force: true });
save('loopback', { rounds, atOnce: results });
