/**
 * Many concurrent calls on a store of a server, compared with the bare statements that they can't do without, through the same client, and with
 * the least that a safe call does around them (`bench/lib/floor.ts`): calls a second, and the CPU time of this process for each call.
 * `npm run bench:shared [-- rounds]`; BEFORE=<folder of another build> also runs that build, in turn.
 */
import { createHash, hash, randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { startPostgres, startRedis, withoutPostgres, withoutRedis } from '../scripts/start-services.ts';
import { floor, LEAST } from './lib/floor.ts';
import { POST } from './lib/payment.ts';
import { type Spread, save, spread, table } from './lib/stats.ts';
import { ANSWER } from './lib/turns.ts';

const AT_ONCE = 64;
const CALLS = 2048;
/** Rounds that don't count, until V8 has compiled the code. */
const WARM_UP = 10;
const rounds = Number(process.argv[2] ?? 9);
const URL_ = 'http://127.0.0.1:9/v1/payments';
const TEXT = 'x'.repeat(600);
const before = process.env['BEFORE'];

type Call = () => Promise<unknown>;
type Build = typeof import('oncefetch') & typeof import('oncefetch/postgres') & typeof import('oncefetch/redis');

async function buildIn(folder: string): Promise<Build> {
  const parts = await Promise.all(['index', 'postgres', 'redis'].map((part) => import(join(resolve(folder), `${part}.js`))));
  return Object.assign({}, ...parts);
}
const builds: Record<string, Build> = { oncefetch: await buildIn(join(import.meta.dirname, '../dist')), ...(before && { before: await buildIn(before) }) };

interface Subject {
  /** The bare statements of a call's first and second commit. */
  begin(id: string, text: string): Promise<unknown>;
  settle(id: string, text: string): Promise<unknown>;
  store(build: Build, name: string): Promise<import('oncefetch').Store>;
  close(): Promise<unknown>;
}

async function postgres(prepare: boolean): Promise<Subject> {
  const server = await startPostgres();
  const pool = new Pool({ ...server.connection, max: 10 });
  await pool.query('CREATE TABLE bare (id text PRIMARY KEY, data text)');
  const named = (name: string) => (prepare ? { name } : {});
  return {
    begin: (id, text) => pool.query({ ...named('bare'), text: 'INSERT INTO bare VALUES ($1, $2)', values: [id, text] }),
    settle: (id, text) => pool.query({ ...named('again'), text: 'UPDATE bare SET data = $2 WHERE id = $1', values: [id, text] }),
    async store(build, name) {
      await pool.query(build.postgresMigration({ table: name }));
      return build.postgresStore(pool, { table: name, prepare });
    },
    close: () => pool.end().then(() => server.stop()),
  };
}

/** The same work as the store's script: compares and sets a record and its two indexes in one step. */
const BARE = `local value = redis.call('GET', KEYS[1])
if (value and string.sub(value, 1, 1) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', 86400000)
redis.call('ZADD', KEYS[2], 0, ARGV[3])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[3])
if ARGV[5] ~= '' then redis.call('ZREM', KEYS[2], ARGV[5]) redis.call('ZREM', KEYS[3], ARGV[5]) end
return 1`;

async function redis(kind: 'ioredis' | 'node-redis'): Promise<Subject> {
  const server = await startRedis();
  const sha = createHash('sha1').update(BARE).digest('hex');
  const io = new Redis<'legacy'>(server.port);
  const node = createClient({ socket: { port: server.port } });
  await node.connect();
  await io.script('LOAD', BARE);
  const run = (keys: string[], args: string[]): Promise<unknown> =>
    kind === 'ioredis' ? io.evalsha(sha, keys.length, ...keys, ...args) : node.evalSha(sha, { keys, arguments: args });
  const keys = (id: string) => [`bare:${id}`, 'bare:places', 'bare:times'];
  const place = (state: string, id: string) => `n\t${state}\t${id}`;
  return {
    begin: (id, text) => run(keys(id), ['', text, place('pending', id), '1000', '']),
    settle: (id, text) => run(keys(id), [text.slice(0, 1), text, place('settled', id), '2000', place('pending', id)]),
    store: async (build, name) => build.redisStore(kind === 'ioredis' ? io : node, { prefix: name }),
    async close() {
      io.disconnect();
      node.destroy();
      await server.stop();
    },
  };
}

interface Figures {
  readonly perSecond: number;
  readonly cpuUs: number;
}

/** Runs `AT_ONCE` lanes. Each lane makes its next call when its last one has ended. */
async function load(call: Call): Promise<Figures> {
  let left = CALLS;
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (CALLS / (performance.now() - start)) * 1000, cpuUs: (user + system) / CALLS };
}

type Column = Readonly<Record<'perSecond' | 'cpuUs' | 'toBare' | 'cpuToBare', Spread>>;

async function measure(subject: Subject): Promise<Record<string, Column>> {
  const fetch = async (): Promise<Response> => new Response(ANSWER, { status: 201, headers: { 'content-type': 'application/json' } });
  const atLeast = floor(
    {
      fetch,
      digest: (text) => hash('sha256', text, 'hex'),
      lock: async () => () => {},
      begin: (record) => subject.begin(record.id, JSON.stringify(record)),
      settle: (record) => subject.settle(record.id, JSON.stringify(record)),
    },
    URL_,
  );
  let calls = 0;
  const cases: Record<string, Call> = {
    async bare() {
      const id = randomUUID();
      await subject.begin(id, TEXT);
      await subject.settle(id, TEXT);
    },
    [LEAST]: async () => (await atLeast(URL_, POST, ['pay', ++calls])).json(),
  };
  const clients: (() => Promise<void>)[] = [];
  for (const [name, build] of Object.entries(builds)) {
    const once = build.createOnce({ namespace: 'bench', store: await subject.store(build, name), fetch });
    let n = 0;
    cases[name] = async () => (await once.fetch(URL_, { ...POST, once: ['pay', ++n] })).json();
    clients.push(() => build.close(once));
  }
  const seen = Object.fromEntries(Object.keys(cases).map((name) => [name, [] as Figures[]]));
  for (let round = -WARM_UP; round < rounds; round++)
    for (const [name, call] of Object.entries(cases)) {
      const figures = await load(call);
      if (round >= 0) seen[name]?.push(figures);
    }
  for (const close of clients) await close();
  await subject.close();
  const of = (name: string, figure: keyof Figures): number[] => (seen[name] ?? []).map((one) => one[figure]);
  const ratio = (name: string, figure: keyof Figures) => spread(of(name, figure).map((value, round) => value / (of('bare', figure)[round] ?? Number.NaN)));
  return Object.fromEntries(
    Object.keys(cases).map((name) => [
      name,
      { perSecond: spread(of(name, 'perSecond')), cpuUs: spread(of(name, 'cpuUs')), toBare: ratio(name, 'perSecond'), cpuToBare: ratio(name, 'cpuUs') },
    ]),
  );
}

const subjects: Readonly<Record<string, { readonly missing: string | undefined; readonly start: () => Promise<Subject> }>> = {
  PostgreSQL: { missing: withoutPostgres, start: () => postgres(false) },
  'PostgreSQL, prepare: true': { missing: withoutPostgres, start: () => postgres(true) },
  'Redis, ioredis': { missing: withoutRedis, start: () => redis('ioredis') },
  'Redis, node-redis': { missing: withoutRedis, start: () => redis('node-redis') },
};
const only = process.argv[3];
const results: Record<string, Record<string, Column>> = {};
for (const [name, { missing, start }] of Object.entries(subjects)) {
  if (only && !name.includes(only)) continue;
  if (missing) console.log(`${name} is left out: ${missing}`);
  else results[name] = await measure(await start());
}
if (!only) save('shared', { rounds, atOnce: AT_ONCE, subjects: results });
console.log(
  table(
    ['store', 'what', 'a second', 'to bare', 'CPU, µs', 'to bare'],
    Object.entries(results).flatMap(([subject, columns]) =>
      Object.entries(columns).map(([name, { perSecond, cpuUs, toBare, cpuToBare }]) => [
        subject,
        name,
        perSecond.median.toFixed(0),
        `${toBare.median.toFixed(2)} (${toBare.low.toFixed(2)} to ${toBare.high.toFixed(2)})`,
        cpuUs.median.toFixed(0),
        `${cpuToBare.median.toFixed(2)} (${cpuToBare.low.toFixed(2)} to ${cpuToBare.high.toFixed(2)})`,
      ]),
    ),
  ),
);
