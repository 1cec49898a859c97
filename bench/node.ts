/** What a call costs in Node without the network: every client over the same stub, which answers at once. `npm run bench:node [-- rounds]` */
import { hash, randomUUID } from 'node:crypto';
import { createOnce, memoryStore, run, unnamed } from 'oncefetch';
import { checksum, floor, LEAST } from './lib/floor.ts';
import { type Compared, costOf, interleaved } from './lib/interleaved.ts';
import { BODY, POST } from './lib/payment.ts';
import { type Spent, spentBy } from './lib/profile.ts';
import { save, table } from './lib/stats.ts';
import { type Call, type Fetch, peers, versions } from './peers/index.ts';

const CALLS = 1000;
const PROFILED = 30_000;
const rounds = Number(process.argv[2] ?? 25);
const URL_ = 'http://127.0.0.1:9/v1/payments';
const HEADERS = { status: 200, headers: { 'content-type': 'application/json' } };
const stub: Fetch = async () => new Response('{"ok":true,"id":"pay_123"}', HEADERS);

let n = 0;
const bare = memoryStore();
const records = new Map<string, unknown>();
const commit = (record: { readonly id: string }): void => void records.set(record.id, record);
const atLeast = floor({ fetch: stub, digest: (text) => hash('sha256', text, 'hex'), lock: async () => () => {}, begin: commit, settle: commit }, URL_);
const once = createOnce({ namespace: 'bench', fetch: stub, store: memoryStore(), use: [unnamed()] });
const ours: Readonly<Record<string, Call>> = {
  'oncefetch, named': async (url) => (await once.fetch(url, { ...POST, once: ['pay', ++n] })).json(),
  'oncefetch, unnamed': async (url) => (await once.fetch(url, POST)).json(),
  'oncefetch, run': () => run(once, ['pay', ++n], async () => ({ ok: true })),
  [LEAST]: async (url) => (await atLeast(url, POST, ['pay', ++n])).json(),
  'oncefetch, once: false': async (url) => (await once.fetch(url, { ...POST, once: false })).json(),
};

/** As many fields as a record, and as long. */
const RECORD = [...Array.from({ length: 4 }, () => 'x'.repeat(64)), ...Array.from({ length: 10 }, () => 'header:Key'), ...Array.from({ length: 6 }, Date.now)];

/** The parts of the floor, each by itself over the same stub: steps that no named call can do without. */
const parts: Readonly<Record<string, Call>> = {
  'part: a copy of the answer, read to its end': async (url) => {
    const response = await stub(url, POST);
    await response.clone().text();
    return response.json();
  },
  'part: three digests': async (url) => {
    for (let digest = 0; digest < 3; digest++) hash('sha256', BODY, 'hex');
    return (await stub(url, POST)).json();
  },
  'part: four time limits, called off': async (url) => {
    const controller = new AbortController();
    for (let limit = 0; limit < 3; limit++) clearTimeout(setTimeout(() => {}, 30_000));
    const timer = setTimeout(() => controller.abort(), 30_000);
    try {
      return await (await stub(url, { ...POST, signal: controller.signal })).json();
    } finally {
      clearTimeout(timer);
    }
  },
  'part: an address, headers and a key': async (url) => {
    const headers = new Headers(new Headers(POST.headers));
    headers.set('idempotency-key', randomUUID());
    return (await stub(new URL(url).href, { ...POST, headers })).json();
  },
  'part: three checksums of a record': async (url) => {
    for (let sum = 0; sum < 3; sum++) checksum(RECORD);
    return (await stub(url, POST)).json();
  },
  'part: two commits in memory': async (url) => {
    const id = `${++n}`;
    const record = { id, ns: 'n', state: 'pending', label: id, forgetAt: 1 } as const;
    await bare.update(id, () => ({ next: record, value: undefined }));
    const response = await stub(url, POST);
    await bare.update(id, () => ({ next: { ...record, state: 'settled' }, value: undefined }));
    return response.json();
  },
};

const made = await Promise.all(Object.entries(peers).map(async ([name, make]) => [name, await make(stub)] as const));
const calls: Readonly<Record<string, Call>> = { 'bare stub': async () => (await stub(URL_, POST)).json(), ...Object.fromEntries(made), ...ours, ...parts };
for (const [name, call] of Object.entries(calls)) {
  const said = (await call(URL_, BODY, 'k')) as { ok?: boolean };
  if (said.ok !== true) throw new Error(`${name} gave ${JSON.stringify(said)}`);
}
const cases: Record<string, Compared> = await interleaved(Object.keys(calls), 'bare stub', rounds, (name) =>
  costOf(() => (calls[name] as Call)(URL_, BODY, `k-${++n}`), CALLS),
);
/** The CPU time of a call, minus that of the stub. */
async function above(name: string): Promise<Spent> {
  const spent = (of: string): Promise<Spent> => spentBy(() => (calls[of] as Call)(URL_, BODY, `k-${++n}`), PROFILED);
  const [own, base] = [await spent(name), await spent('bare stub')];
  return { ...own, whose: Object.fromEntries(Object.entries(own.whose).map(([owner, us]) => [owner, us - (base.whose[owner] ?? 0)])) };
}
const profiles = { 'oncefetch, named': await above('oncefetch, named'), [LEAST]: await above(LEAST) };
save('node', { rounds, bodyBytes: BODY.length, versions, cases, profiles });
console.log(
  table(
    ['client', 'added, µs', 'added CPU, µs'],
    Object.entries(cases).map(([name, { added, addedCpu }]) => [name, added.median.toFixed(1), addedCpu.median.toFixed(1)]),
  ),
);
console.log(profiles);
