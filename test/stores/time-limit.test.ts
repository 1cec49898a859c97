/**
 * Goal: a store waits no longer than the engine waits for it, an update changes nothing after its call has ended, and a misspelled option, or
 * one of a wrong type, is refused. Method: the options of all stores with a time limit; a real SQLite file that another connection locks until the call is over.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { STORE_TIMEOUT_MS } from '../../src/engine/record-access.js';
import { createOnce, outcomeOf } from '../../src/entries/index.js';
import { d1Store } from '../../src/stores/cloudflare/d1.js';
import { durableObjectStore } from '../../src/stores/cloudflare/durable-object.js';
import { denoKvStore } from '../../src/stores/deno/deno-kv.js';
import { postgresStore } from '../../src/stores/postgres/postgres.js';
import { postgresMigration } from '../../src/stores/postgres/sql.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.js';
import { STORE_MS_MAX } from '../../src/stores/time-limit.js';

const nothing = (): never => {
  throw new Error('nothing is asked here');
};
const stores: Readonly<Record<string, (ms: number) => unknown>> = {
  sqlite: (busyTimeoutMs) => sqliteStore({ path: '/nowhere/x.db', busyTimeoutMs }),
  redis: (timeoutMs) => redisStore({ evalSha: nothing, eval: nothing }, { timeoutMs }),
  postgres: (timeoutMs) => postgresStore({ query: nothing }, { timeoutMs }),
  d1: (timeoutMs) => d1Store({ prepare: nothing, batch: nothing } as never, { timeoutMs }),
  deno: (timeoutMs) => denoKvStore({ atomic: nothing } as never, { timeoutMs }),
};

test.each(Object.entries(stores))('%s takes a time limit up to that of the engine, and no longer one', (_, open) => {
  for (const ms of [0, 5000, STORE_MS_MAX]) expect(() => open(ms)).not.toThrow();
  for (const ms of [STORE_MS_MAX + 1, -1])
    expect(() => open(ms)).toThrow(/^once: (busyT|t)imeoutMs must be from 0 to 10000 \(ms\), because no call waits longer for its store; got/);
});

test.each<[string, () => unknown]>([
  ['sqliteStore.busyTimeout', () => sqliteStore({ path: '/nowhere/x.db', busyTimeout: 5 } as never)],
  ['redisStore.prefx', () => redisStore({ evalSha: nothing, eval: nothing }, { prefx: 'shop' } as never)],
  ['postgresStore.tabel', () => postgresStore({ query: nothing }, { tabel: 'keys' } as never)],
  ['postgresStore.tabel', () => postgresMigration({ tabel: 'keys' } as never)],
  ['d1Store.tabel', () => d1Store({ prepare: nothing, batch: nothing } as never, { tabel: 'keys' } as never)],
  ['durableObjectStore.timeoutMs', () => durableObjectStore({ transactionSync: nothing, sql: {} } as never, { timeoutMs: 5 } as never)],
  ['denoKvStore.prefx', () => denoKvStore({ atomic: nothing } as never, { prefx: 'shop' } as never)],
])('a misspelled option is refused, because the store would open the records of another place: %s', (option, open) => {
  expect(open).toThrow(new TypeError(`once: there is no option ${option}`));
});

const redis = { evalSha: nothing, eval: nothing, sendCommand: nothing, unref: nothing };
const redisWith = (options: object) => () => redisStore(redis as never, options as never);

test.each<[string, () => unknown]>([
  ['sqliteStore.path must be a string, got number', () => sqliteStore({ path: 7 } as never)],
  ['sqliteStore.database must be an object, got string', () => sqliteStore({ database: './oncefetch.db' } as never)],
  ['sqliteStore.busyTimeoutMs must be a number, got string', () => sqliteStore({ path: '/nowhere/x.db', busyTimeoutMs: '5000' } as never)],
  ['redisStore.prefix must be a string, got object', redisWith({ prefix: Promise.resolve('shop') })],
  ['redisStore.prefix must be a string, got null', redisWith({ prefix: null })],
  ['redisStore.acceptEviction must be a string, got boolean', redisWith({ acceptEviction: true })],
  ['redisStore.timeoutMs must be a number, got NaN', redisWith({ timeoutMs: Number.NaN })],
  ['redisStore.wait must be an object, got number', redisWith({ wait: 1 })],
  ['redisStore.wait must be an object, got null', redisWith({ wait: null })],
  ['redisStore.wait.replicas must be a number, got string', redisWith({ wait: { replicas: '1', timeoutMs: 100 } })],
  ['there is no option redisStore.wait.replica', redisWith({ wait: { replica: 1, timeoutMs: 100 } })],
  ['postgresStore.table must be a string, got number', () => postgresStore({ query: nothing }, { table: 7 } as never)],
  ['postgresStore.schema must be a string, got object', () => postgresMigration({ schema: {} } as never)],
  ['postgresStore.prepare must be a boolean, got string', () => postgresStore({ query: nothing }, { prepare: 'yes' } as never)],
  ['postgresStore.timeoutMs must be a number, got NaN', () => postgresStore({ query: nothing }, { timeoutMs: Number.NaN })],
  ['the options of postgresStore must be an object, got null', () => postgresStore({ query: nothing }, null as never)],
  ['d1Store.timeoutMs must be a number, got string', () => d1Store({ prepare: nothing, batch: nothing } as never, { timeoutMs: '5000' } as never)],
  ['durableObjectStore.table must be a string, got null', () => durableObjectStore({ transactionSync: nothing, sql: {} } as never, { table: null } as never)],
  ['denoKvStore.prefix must be a string, got an array', () => denoKvStore({ atomic: nothing } as never, { prefix: ['shop'] } as never)],
])('an option of a wrong type is refused at once: %s', (message, open) => expect(open).toThrow(new TypeError(`once: ${message}`)));

// Redis would wait for nobody, or for ever, or refuse WAIT after it has made the update: at the first payment.
test.each([
  ['replicas', { replicas: 0, timeoutMs: 100 }, '0'],
  ['replicas', { replicas: -1, timeoutMs: 100 }, '-1'],
  ['replicas', { replicas: 0.5, timeoutMs: 100 }, '0.5'],
  ['replicas', {}, 'undefined'],
  ['timeoutMs', { replicas: 1 }, 'undefined'],
  ['timeoutMs', { replicas: 1, timeoutMs: 0 }, '0'],
])('redisStore refuses a wait whose %s is not a whole number of at least 1: %o', (name, wait, got) => {
  expect(redisWith({ wait })).toThrow(new RangeError(`once: redisStore.wait.${name} must be a whole number of at least 1, got ${got}`));
});

test.each([
  ['./oncefetch.db', 'string'],
  [undefined, 'undefined'],
  [null, 'null'],
])('sqliteStore takes an object, and names what it got instead: %s', (given, got) => {
  expect(() => sqliteStore(given as never)).toThrow(new TypeError(`once: the options of sqliteStore must be an object, got ${got}`));
});

test('the longest time limit of a store is that of the engine', () => expect(STORE_TIMEOUT_MS).toBe(STORE_MS_MAX));

test('an update that has rejected because another connection had locked the file is not made after the lock is gone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-late-'));
  const path = join(folder, 'x.db');
  const store = sqliteStore({ path, busyTimeoutMs: 300 });
  await store.available?.();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const put = (id: string) => store.update(id, () => ({ next: { id, ns: 'ns', state: 'pending', label: 'l', forgetAt: 1 }, value: 0 }));
  const ends = await Promise.all(['a', 'b'].map((id) => put(id).catch((fault) => fault.reason)));
  other.exec('ROLLBACK');
  await put('c');
  expect([ends, other.prepare('SELECT id FROM oncefetch_records').all()]).toEqual([['blocked', 'blocked'], [{ id: 'c' }]]);
  other.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

test('a write that the lock of another connection holds up until the call has ended is not made later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-late-'));
  const path = join(folder, 'x.db');
  const store = sqliteStore({ path, busyTimeoutMs: STORE_MS_MAX });
  await store.available?.();
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  let sent = 0;
  const once = createOnce({ namespace: 'n', store, limits: { totalMs: 100 }, fetch: async () => new Response(String(++sent)) });
  const end = await once.fetch('http://localhost/pay', { method: 'POST', once: ['pay', 1] }).catch((error: unknown) => error);
  expect([outcomeOf(end)?.effect, sent]).toEqual(['unknown', 0]);
  other.exec('ROLLBACK');
  // A later update gets its turn only after the late write.
  await store.update('later', () => ({ next: { id: 'later', ns: 'ns', state: 'pending', label: 'l', forgetAt: 1 }, value: 0 }));
  await expect.poll(() => other.prepare('SELECT id FROM oncefetch_records').all()).toEqual([{ id: 'later' }]);
  other.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
