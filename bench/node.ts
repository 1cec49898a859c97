/** What a call costs in Node beside the network: every client over the same stub, which answers at once. `npm run bench:node [-- rounds]` */
import { createOnce, memoryStore } from 'oncefetch';
import { type Compared, costOf, interleaved } from './lib/interleaved.ts';
import { BODY, POST } from './lib/payment.ts';
import { save, table } from './lib/stats.ts';
import { type Call, type Fetch, peers, versions } from './peers/index.ts';

const CALLS = 1000;
const rounds = Number(process.argv[2] ?? 25);
const URL_ = 'http://127.0.0.1:9/v1/payments';
const HEADERS = { status: 200, headers: { 'content-type': 'application/json' } };
const stub: Fetch = async () => new Response('{"ok":true,"id":"pay_123"}', HEADERS);

let n = 0;
const once = createOnce({ namespace: 'bench', fetch: stub, store: memoryStore() });
const ours: Readonly<Record<string, Call>> = {
  'oncefetch, named': async (url) => (await once.fetch(url, { ...POST, once: ['pay', ++n] })).json(),
  'oncefetch, unnamed': async (url) => (await once.fetch(url, POST)).json(),
  'oncefetch, run': () => once.run(['pay', ++n], async () => ({ ok: true })),
  'oncefetch, once: false': async (url) => (await once.fetch(url, { ...POST, once: false })).json(),
};

const made = await Promise.all(Object.entries(peers).map(async ([name, make]) => [name, await make(stub)] as const));
const calls: Readonly<Record<string, Call>> = { 'bare stub': async () => (await stub(URL_, POST)).json(), ...Object.fromEntries(made), ...ours };
for (const [name, call] of Object.entries(calls)) {
  const said = (await call(URL_, BODY, 'k')) as { ok?: boolean };
  if (said.ok !== true) throw new Error(`${name} gave ${JSON.stringify(said)}`);
}
const cases: Record<string, Compared> = await interleaved(Object.keys(calls), 'bare stub', rounds, (name) =>
  costOf(() => (calls[name] as Call)(URL_, BODY, `k-${++n}`), CALLS),
);
save('node', { rounds, calls: CALLS, bodyBytes: BODY.length, versions, cases });
console.log(
  table(
    ['client', 'µs a call', 'added, µs', 'added CPU, µs'],
    Object.entries(cases).map(([name, { wall, added, addedCpu }]) => [name, wall.median.toFixed(1), added.median.toFixed(1), addedCpu.median.toFixed(1)]),
  ),
);
