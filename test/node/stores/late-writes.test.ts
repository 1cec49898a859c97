/**
 * Goal: an update that has rejected writes nothing later, whatever delayed it: a lock, a full pool, a pooler, a paused
 * server, or a connection that had to be reopened. Method: real servers; the obstacle stays until the update has
 * rejected, and then goes away.
 */
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type PostgresServer,
  type RedisServer,
  startPgBouncer,
  startPostgres,
  startRedis,
  withoutPgBouncer,
  withoutPostgres,
  withoutRedis,
} from '../../../scripts/start-services.ts';
import { createOnce, outcomeOf } from '../../../src/entries/index.js';
import type { Store, Stored } from '../../../src/ports.js';
import { type PostgresClient, postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { statementsOf, TOO_LATE } from '../../../src/stores/postgres/sql.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';
import { type Connected, redisClients } from '../../support/redis-clients.js';

/** Longer than any statement waits for a lock. */
const LATER_MS = 1500;
/** The reason depends on which comes first: the server's error that it could not get the lock, or the call's timer. */
const STOPPED = /blocked|timeout/;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const record = (id: string, count: number): Stored & { count: number } => ({ id, ns: 'ns', state: 'pending', label: `["${id}"]`, forgetAt: 1000, count });
const put = (store: Store, id: string, count: number) => store.update(id, () => ({ next: record(id, count), value: 'stored' }));
const remove = (store: Store, id: string) => store.update(id, () => ({ next: null, value: 'removed' }));
/** The result of the call: its value, or the reason of its fault. */
const endOf = (call: Promise<unknown>): Promise<unknown> => call.catch((fault) => fault.reason);
/** Updates until it succeeds: even without an obstacle, a busy machine may take longer than the store waits. */
const stored = (store: Store, id: string, count: number) => expect.poll(() => endOf(put(store, id, count))).toBe('stored');
const endsOf = (calls: readonly Promise<unknown>[]): Promise<readonly unknown[]> => Promise.all(calls.map(endOf));

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let tables = 0;
  const pools: pg.Pool[] = [];
  const poolOf = (config: pg.PoolConfig = {}): pg.Pool => {
    const pool = new pg.Pool({ ...server.connection, max: 4, ...config });
    pool.on('error', () => {});
    pools.push(pool);
    return pool;
  };
  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Pool({ ...server.connection, max: 8 });
    admin.on('error', () => {});
  });
  afterEach(async () => {
    // A test that failed may have left a transaction open.
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND xact_start IS NOT NULL');
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
  });
  afterAll(async () => {
    await admin.end();
    server.stop();
  });

  const makeTable = async (): Promise<string> => {
    const table = `t${tables++}`;
    await admin.query(postgresMigration({ table }));
    return table;
  };
  const open = async (timeoutMs: number, client: PostgresClient = poolOf()) => {
    const table = await makeTable();
    const store = postgresStore(client, { table, timeoutMs });
    // After this, the store has checked the schema and knows the server's time.
    await put(postgresStore(client, { table }), 'warm', 1);
    await store.read('warm').catch(() => {});
    await stored(store, 'warm', 1);
    return { table, store, others: postgresStore(admin, { table }) };
  };
  /** Runs `sql` in somebody else's transaction, which stays open until the returned function rolls it back. */
  const holding = async (sql: string): Promise<() => Promise<unknown>> => {
    const client = await admin.connect();
    client.on('error', () => {});
    await client.query('BEGIN');
    await client.query(sql);
    return () => client.query('ROLLBACK').finally(() => client.release());
  };
  const waiting = (): Promise<void> =>
    expect.poll(async () => (await admin.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rowCount).toBe(1);
  const idle = (): Promise<void> =>
    expect.poll(async () => (await admin.query(`SELECT query FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid()`)).rows).toEqual([]);

  test.each([300, 1300, 2500])('a row that is locked until the update has rejected, timeoutMs %i', async (timeoutMs) => {
    const { store, table, others } = await open(timeoutMs);
    await stored(store, 'a', 1);
    const release = await holding(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`);
    expect(await endOf(put(store, 'a', 2))).toMatch(STOPPED);
    await release();
    await pause(LATER_MS);
    expect(await others.read('a')).toEqual(record('a', 1));
    await stored(store, 'a', 3);
  });

  test('of updates that share a statement, only those whose rows are locked reject, and they write nothing later', async () => {
    const { store, table, others } = await open(2500);
    const ids = Array.from({ length: 16 }, (_, n) => `r${n}`);
    await Promise.all(ids.map((id) => put(store, id, 1)));
    const release = await holding(`SELECT 1 FROM ${table} WHERE id IN ('r3', 'r7') FOR UPDATE`);
    const locked = (id: string) => id === 'r3' || id === 'r7';
    const ends = await endsOf(ids.map((id) => (id === 'r7' ? remove(store, id) : put(store, id, 2))));
    await release();
    await pause(LATER_MS);
    for (const [n, id] of ids.entries()) expect(ends[n]).toMatch(locked(id) ? STOPPED : 'stored');
    expect(await Promise.all(ids.map((id) => others.read(id)))).toEqual(ids.map((id) => record(id, locked(id) ? 1 : 2)));
  });

  test('a locked row for which another transaction already waits: PostgreSQL applies lock_timeout to each of the two waits', async () => {
    const { store, table, others } = await open(1300);
    await stored(store, 'a', 1);
    const release = await holding(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`);
    const second = await admin.connect();
    await second.query('BEGIN; SET LOCAL lock_timeout = 1200');
    // `second` is the first in the queue. The update waits until `second` has left, and then for the row.
    const queued = second.query(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`).catch((error) => error.code);
    await waiting();
    const end = await endOf(put(store, 'a', 2));
    expect(await queued).toBe('55P03');
    await second.query('ROLLBACK');
    second.release();
    await release();
    await pause(LATER_MS);
    expect(end).toMatch(STOPPED);
    expect(await others.read('a')).toEqual(record('a', 1));
  });

  test('new records that somebody else is inserting, in a shared statement, which waits for one after the other', async () => {
    const { store, table, others } = await open(1300);
    const theirs = (id: string): string => `INSERT INTO ${table} VALUES ('${id}', 'theirs', 'ns', 'pending', '', 1000, '{}')`;
    const ids = ['a', 'b', 'c', 'd'];
    const releases = [await holding(theirs('b')), await holding(theirs('c'))];
    const ends = await endsOf(ids.map((id) => put(store, id, 1)));
    await releases[0]?.();
    await pause(100);
    await releases[1]?.();
    await pause(LATER_MS);
    for (const [n, expected] of ['stored', STOPPED, STOPPED, 'stored'].entries()) expect(ends[n]).toMatch(expected);
    expect(await Promise.all(ids.map((id) => others.read(id)))).toEqual([record('a', 1), undefined, undefined, record('d', 1)]);
  });

  test('a shared statement that waits for five records in turn is rolled back if one of its calls has ended meanwhile', async () => {
    const { table, others } = await open(1000);
    const theirs = ['b', 'c', 'd', 'e', 'f'];
    const releases: (() => Promise<unknown>)[] = [];
    for (const id of theirs) releases.push(await holding(`INSERT INTO ${table} VALUES ('${id}', 'theirs', 'ns', 'pending', '', 1000, '{}')`));
    const now = Number((await admin.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')).rows[0].now);
    const rowOf = (id: string, off: number) => ({ id, now, off, rev: 'r', ns: 'ns', state: 'pending', label: 'l', until: '1000', data: '{}' });
    const asked = JSON.stringify([rowOf('a', 2000), ...theirs.map((id) => rowOf(id, 5000))]);
    const end = endOf(admin.query(statementsOf(table).insertMany, [asked, false]).catch((error) => Promise.reject({ reason: error.message })));
    // Each wait is much shorter than the second that the statement waits for one lock; together they are longer than the call of `a`.
    for (const release of releases) {
      await pause(420);
      await release();
    }
    expect(await end).toMatch(TOO_LATE);
    expect(await Promise.all(['a', ...theirs].map((id) => others.read(id)))).toEqual(Array(6).fill(undefined));
  });

  test.each([1, 8])('a table that is locked until the updates have rejected, %i at once', async (many) => {
    const { store, table, others } = await open(600);
    const ids = Array.from({ length: many }, (_, n) => `r${n}`);
    const release = await holding(`LOCK TABLE ${table} IN SHARE MODE`);
    expect(await endsOf(ids.map((id) => put(store, id, 1)))).toEqual(ids.map(() => 'timeout'));
    await release();
    await idle();
    expect(await Promise.all(ids.map((id) => others.read(id)))).toEqual(ids.map(() => undefined));
  });

  test.each([1, 8])('a pool without a free connection until the updates have rejected, %i at once', async (many) => {
    const pool = poolOf({ max: 1 });
    const { store, others } = await open(600, pool);
    const ids = Array.from({ length: many }, (_, n) => `r${n}`);
    const held = await pool.connect();
    expect(await endsOf(ids.map((id) => put(store, id, 1)))).toEqual(ids.map(() => 'timeout'));
    held.release();
    await expect.poll(() => pool.waitingCount).toBe(0);
    await idle();
    expect(await Promise.all(ids.map((id) => others.read(id)))).toEqual(ids.map(() => undefined));
  });

  test('a single client that is busy with something else until the update has rejected', async () => {
    const client = new pg.Client(server.connection);
    await client.connect();
    const { store, others } = await open(600, client);
    await stored(store, 'a', 1);
    const busy = client.query('SELECT pg_sleep(0.8)');
    expect(await endOf(put(store, 'a', 2))).toBe('timeout');
    await busy;
    await client.query('SELECT 1');
    expect(await others.read('a')).toEqual(record('a', 1));
    await client.end();
  });

  test('a connection that breaks while its statement waits: no copy of the statement is executed later', async () => {
    const pool = poolOf();
    const { store, table, others } = await open(2500, pool);
    await stored(store, 'a', 1);
    const release = await holding(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`);
    const rejected = endOf(put(store, 'a', 2));
    await pause(1800);
    for (const client of (pool as unknown as { _clients: { connection: { stream: { destroy(): void } } }[] })._clients) client.connection.stream.destroy();
    expect(await rejected).toMatch(/blocked|timeout|io/);
    await release();
    await pause(LATER_MS);
    expect(await others.read('a')).toEqual(record('a', 1));
  });

  test('a call that ends before the store’s time limit: its record may still be written, nothing is sent, and the next call uses its key', async () => {
    const pool = poolOf();
    // The first statement arrives too late for the time that it carries, and the second one after the call has ended.
    const delays = [1100, 2500];
    const slow: PostgresClient = {
      query: async (text, values) => {
        if (text.includes('INSERT')) await pause(delays.shift() ?? 0);
        return pool.query(text, values);
      },
    };
    const table = await makeTable();
    const store = postgresStore(slow, { table, timeoutMs: 6000 });
    const keys: (string | null)[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      return new Response('paid');
    };
    const once = createOnce({ namespace: 'n', store, fetch: fetch as typeof globalThis.fetch, limits: { totalMs: 2000, leaseMs: 1000 } });
    const pay = (client: typeof once) => client.fetch('http://localhost/pay', { method: 'POST', once: ['pay', 1] });
    const error = await pay(once).catch((thrown) => thrown);
    expect([error.code, outcomeOf(error)?.effect, keys]).toEqual(['ERR_ONCE_STORE', 'unknown', []]);
    const rows = async () => (await admin.query(`SELECT data FROM ${table}`)).rows.map(({ data }) => JSON.parse(data));
    await expect.poll(rows).toMatchObject([{ state: 'pending' }]);
    const [made] = await rows();
    const patient = createOnce({ namespace: 'n', store: postgresStore(poolOf(), { table }), fetch: fetch as typeof globalThis.fetch });
    expect(await (await pay(patient)).text()).toBe('paid');
    expect(keys).toEqual([made.key]);
  });

  describeOn(withoutPgBouncer)('through PgBouncer in transaction mode', () => {
    let bouncer: Awaited<ReturnType<typeof startPgBouncer>>;
    beforeAll(async () => void (bouncer = await startPgBouncer(server)));
    afterAll(() => bouncer.stop());

    test('a locked row, and then no free server connection: rejected updates write nothing later', async () => {
      const { store, table, others } = await open(2500, poolOf(bouncer.connection));
      await stored(store, 'a', 1);
      const release = await holding(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`);
      expect(await endOf(put(store, 'a', 2))).toMatch(STOPPED);
      await release();
      const through = poolOf(bouncer.connection);
      const busy = [through.query('SELECT pg_sleep(3.5)'), through.query('SELECT pg_sleep(3.5)')];
      await pause(200);
      expect(await endsOf([put(store, 'a', 3), put(store, 'b', 3)])).toEqual(['timeout', 'timeout']);
      await Promise.all(busy);
      await idle();
      expect([await others.read('a'), await others.read('b')]).toEqual([record('a', 1), undefined]);
    });
  });
});

describeOn(withoutRedis)('Redis', () => {
  let server: RedisServer;
  let admin: Redis;
  let prefixes = 0;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis<'legacy'>(server.port, '127.0.0.1');
    admin.on('error', () => {});
  });
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });
  afterAll(() => {
    admin.disconnect();
    return server.stop();
  });

  const open = async (connected: (port: number) => Promise<Connected>, timeoutMs: number) => {
    const prefix = `p${prefixes++}`;
    const { client, close } = await connected(server.port);
    closing.push(close);
    const store = redisStore(client, { prefix, timeoutMs });
    await stored(store, 'a', 1);
    return { store, others: redisStore(admin, { prefix }) };
  };

  test.each(Object.entries(redisClients))('%s: a server that is paused until the updates have rejected', async (_, connected) => {
    const { store, others } = await open(connected, 600);
    server.pause();
    const ends = await endsOf([put(store, 'a', 2), put(store, 'b', 2)]);
    server.resume();
    for (const end of ends) expect(end).toMatch(/timeout|io/);
    await pause(300);
    expect([await others.read('a'), await others.read('b')]).toEqual([record('a', 1), undefined]);
  });

  test.each(Object.entries(redisClients))('%s: commands that the client keeps for a lost server are not executed when it is back', async (_, connected) => {
    const { store, others } = await open(connected, 600);
    await server.kill();
    const ends = await endsOf([put(store, 'a', 2), put(store, 'b', 2)]);
    await server.start();
    for (const end of ends) expect(end).toMatch(/timeout|io/);
    await stored(store, 'c', 3);
    expect([await others.read('a'), await others.read('b')]).toEqual([undefined, undefined]);
  });

  test('a server that is paused after it told this call that the record has changed', async () => {
    const { store, others } = await open(redisClients.ioredis, 1500);
    await put(others, 'a', 2);
    const asked: number[] = [];
    server.pause();
    const end = endOf(
      store.update('a', (current) => {
        const { count } = Object(current) as { count: number };
        // This is the second round, and its attempt is about to be sent.
        if (asked.push(count) === 2) server.pause();
        return { next: record('a', count + 10), value: 'stored' };
      }),
    );
    await pause(700);
    server.resume();
    expect(await end).toBe('timeout');
    server.resume();
    await pause(300);
    expect([asked, (await others.read('a')) as object]).toEqual([[1, 2, undefined], record('a', 2)]);
  });
});
