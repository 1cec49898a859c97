/**
 * Whether a store full of records makes a call slower, a listing bigger, or a restart unfair.
 * `npm run bench:records [-- the largest number of records, in thousands]`
 */
import { createHash } from 'node:crypto';
import { createOnce, pending, requests, resume, type Store, type Stored } from 'oncefetch';
import { POST } from './lib/payment.ts';
import { media } from './lib/servers.ts';
import { type Spread, save, spread, table } from './lib/stats.ts';
import { elapsed, inTurns } from './lib/turns.ts';

const most = Number(process.argv[2] ?? 1000) * 1000;
const SIZES = [10, 1000, 100_000, 1_000_000].filter((size) => size <= most);
const [ROUNDS, CALLS] = [7, 60];
const PENDING = 10_000;
const UNKNOWN = 30_000;
const AT_ONCE = 256;
const URL_ = 'http://127.0.0.1:9/v1/payments';
const DAY = 86_400_000;
const stub = async (): Promise<Response> => new Response('{"ok":true}', { status: 201, headers: { 'content-type': 'application/json' } });
const sha = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** A record like that of a settled operation, in the fields that a store reads. */
const settledRecord = (n: number): Stored =>
  ({
    id: sha(`settled ${n}`),
    ns: sha(JSON.stringify(['bench'])),
    state: 'settled',
    label: JSON.stringify(['old', n]),
    forgetAt: Date.now() + 30 * DAY + n,
    pad: 'x'.repeat(300),
  }) as Stored;

async function fill(store: Store, size: number): Promise<void> {
  for (let n = 0; n < size; n += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, size - n) }, (_, more) => settledRecord(n + more));
    await Promise.all(some.map((record) => store.update(record.id, () => ({ next: record, value: undefined }), { durability: 'relaxed' })));
  }
}

/** A scan of the sweep that finds nothing to remove. The sweep runs in the background, at most once a minute. */
const SWEEP = { limit: 100 };

type BySize = Record<string, { us: Spread; ratio: Spread }>;

/** Opens one store of each size, and measures a call and a sweep on each in turn. */
async function bySize(open: (name: string) => Promise<Store>): Promise<{ calls: BySize; sweeps: BySize }> {
  const calls: Record<string, () => Promise<number>> = {};
  const sweeps: Record<string, () => Promise<number>> = {};
  let n = 0;
  for (const size of SIZES) {
    const store = await open(`of_${size}`);
    await fill(store, size);
    const once = createOnce({ namespace: 'bench', store, fetch: stub });
    calls[size] = () => elapsed(async () => (await once.fetch(URL_, { ...POST, once: ['pay', ++n] })).json());
    sweeps[size] = () => elapsed(() => store.scan({ before: Date.now(), ...SWEEP }));
  }
  return { calls: await compared(calls), sweeps: await compared(sweeps) };
}

async function compared(cases: Record<string, () => Promise<number>>): Promise<BySize> {
  const seen = await inTurns(cases, ROUNDS, CALLS);
  const few = seen[SIZES[0] as number] ?? [];
  return Object.fromEntries(
    Object.entries(seen).map(([size, us]) => [size, { us: spread(us), ratio: spread(us.map((value, round) => value / (few[round] ?? Number.NaN))) }]),
  );
}

/** Drops what oncefetch keeps in memory, as in a new process. */
const forgetRealm = (): void => void Reflect.deleteProperty(globalThis, Symbol.for('oncefetch'));

/** Compares calls in a process in which many operations lost their answers with calls in a process in which none did. */
async function unknown(open: (name: string) => Promise<Store>): Promise<Spread> {
  const cases: Record<string, () => Promise<number>> = {};
  let n = 0;
  for (const lost of [0, UNKNOWN]) {
    forgetRealm();
    let down = true;
    const fetch = (): Promise<Response> => (down ? Promise.reject(new TypeError('fetch failed')) : stub());
    const store = await open(`unknown_${lost}`);
    const once = createOnce({ namespace: 'bench', store, fetch, limits: { attempts: 1 }, retry: { budget: false } });
    for (let lots = 0; lots < lost; lots += AT_ONCE)
      await Promise.allSettled(Array.from({ length: Math.min(AT_ONCE, lost - lots) }, (_, more) => once.fetch(URL_, { ...POST, once: ['lost', lots + more] })));
    down = false;
    cases[lost] = () => elapsed(async () => (await once.fetch(URL_, { ...POST, once: ['pay', ++n] })).json());
  }
  const seen = await inTurns(cases, ROUNDS, CALLS);
  return spread((seen[UNKNOWN] ?? []).map((us, round) => us / (seen[0]?.[round] ?? Number.NaN)));
}

/** Makes 10,000 operations of ten kinds without an answer, restarts, and resumes all of them. */
async function restart(store: Store) {
  let down = true;
  const arrived: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    if (down) throw new TypeError('fetch failed');
    arrived.push(JSON.parse(String(init?.body)).kind);
    return stub();
  };
  const options = { use: [requests()], namespace: 'bench', store, fetch, keep: { request: true }, limits: { attempts: 1 }, retry: { budget: false } } as const;
  const before = createOnce(options);
  for (let n = 0; n < PENDING; n += AT_ONCE)
    await Promise.allSettled(
      Array.from({ length: Math.min(AT_ONCE, PENDING - n) }, (_, more) =>
        before.fetch(URL_, { method: 'POST', body: JSON.stringify({ kind: (n + more) % 10 }), once: [`kind ${(n + more) % 10}`, n + more] }),
      ),
    );
  down = false;
  forgetRealm();
  const after = createOnce(options);
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  let heapMost = 0;
  let listed = 0;
  const pageUs: number[] = [];
  for (let cursor: string | undefined, more = true; more; ) {
    const start = performance.now();
    const page = await pending(after, { limit: 100, after: cursor });
    pageUs.push((performance.now() - start) * 1000);
    listed += page.length;
    cursor = page.at(-1)?.cursor;
    more = page.length === 100;
  }
  let resumed = 0;
  const start = performance.now();
  for await (const { outcome } of resume(after)) {
    if (outcome.effect === 'done') resumed++;
    if (resumed % 500 === 0) {
      globalThis.gc?.();
      heapMost = Math.max(heapMost, process.memoryUsage().heapUsed);
    }
  }
  const resumeMs = performance.now() - start;
  // The largest share of one kind among the first tenth of all arrivals: 0.1 if all kinds take turns, 1 if one kind comes after the other.
  const early = arrived.slice(0, PENDING / 10);
  const share = Math.max(...Array.from({ length: 10 }, (_, kind) => early.filter((one) => String(one) === String(kind)).length)) / early.length;
  return {
    listed,
    pageUs: spread(pageUs),
    resumed,
    perSecond: resumed / (resumeMs / 1000),
    heapGrowth: heapMost - heapBefore,
    largestShareOfFirstTenth: share,
  };
}

const results: Record<string, { calls: BySize; sweeps: BySize; unknown: Spread; restart: Awaited<ReturnType<typeof restart>> }> = {};
const leftOut: Record<string, string> = {};
for (const [kind, { missing, start }] of Object.entries(media)) {
  if (missing) {
    leftOut[kind] = missing;
    continue;
  }
  const medium = await start();
  results[kind] = { ...(await bySize(medium.open)), unknown: await unknown(medium.open), restart: await restart(await medium.open('restart')) };
  await medium.close();
  console.log(kind, JSON.stringify(results[kind].restart));
  console.log(
    table(
      [kind, 'µs a call', 'to 10 records'],
      Object.entries(results[kind].calls).map(([size, { us, ratio }]) => [size, us.median.toFixed(0), ratio.median.toFixed(2)]),
    ),
  );
  console.log(`${UNKNOWN} that stay unknown: ${results[kind].unknown.median.toFixed(2)} times a call without`);
}
save('records', { sizes: SIZES, pending: PENDING, unknown: UNKNOWN, stores: results, leftOut });
