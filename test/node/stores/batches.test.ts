/**
 * Goal: concurrent updates of different operations share a statement or script, and each update learns its own result,
 * whatever happens to the others or to the connection. Method: real servers, and clients that count, break or delay
 * requests.
 */
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, type RedisServer, startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import type { Store } from '../../../src/ports.js';
import { type PostgresClient, postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';
import { countOf, put, raise, record, remove } from '../../support/stored.js';

const MANY = 64;
const ids = Array.from({ length: MANY }, (_, n) => `r${n}`);
const ends = async (calls: readonly Promise<unknown>[]): Promise<readonly unknown[]> =>
  (await Promise.allSettled(calls)).map((end) => (end.status === 'fulfilled' ? end.value : end.reason.reason));
const all = (value: string) => ids.map(() => value);
const counts = async (store: Store) => Promise.all(ids.map(async (id) => countOf(await store.read(id))));

/** The way to a server. It counts the requests, and may break them: `fate` says what happens to the n-th request. */
class Wire {
  requests = 0;
  /** The code of the error that a lost answer gives. */
  code: string | undefined;
  fate: (n: number) => 'lost on its way' | 'answer lost' | 'arrives' = () => 'arrives';
  async carry<T>(ask: () => Promise<T>): Promise<T> {
    const fate = this.fate(++this.requests);
    if (fate === 'lost on its way') throw new Error('Connection terminated unexpectedly');
    const answer = await ask();
    if (fate === 'answer lost') throw Object.assign(new Error('Connection terminated unexpectedly'), { code: this.code });
    return answer;
  }
  async during(work: () => Promise<unknown>): Promise<number> {
    this.requests = 0;
    await work();
    return this.requests;
  }
}

interface Ground {
  readonly wire: Wire;
  readonly store: Store;
  /** A second store on the same records, as in another process. */
  readonly other: Store;
  /** Makes it impossible to write one record. */
  spoil(id: string): Promise<unknown>;
}

/** Tests for every kind of server. `open` gives each test its own table or prefix. */
function inEachCase(open: () => Promise<Ground>, spoilt: string): void {
  test(`${MANY} records are made, changed and removed in one request each`, async () => {
    const { wire, store } = await open();
    await store.read('warm');
    const first = await wire.during(async () => expect(await ends(ids.map((id) => put(store, id)))).toEqual(all('stored')));
    const second = await wire.during(async () => expect(await ends(ids.map((id) => raise(store, id)))).toEqual(all('raised')));
    expect(await counts(store)).toEqual(ids.map(() => 1));
    const third = await wire.during(async () => expect(await ends(ids.map((id) => remove(store, id)))).toEqual(all('removed')));
    expect((await Promise.all(ids.map((id) => store.read(id)))).filter(Boolean)).toEqual([]);
    expect([first, second, third]).toEqual([1, 1, 1]);
  });

  test('a record that cannot be written fails alone', async () => {
    const { store, spoil } = await open();
    await spoil('r7');
    const expected = ids.map((id) => (id === 'r7' ? spoilt : 'stored'));
    expect(await ends(ids.map((id) => put(store, id)))).toEqual(expected);
    expect(await ends(ids.map((id) => put(store, record(id, { state: 'settled' }))))).toEqual(expected);
    for (const id of ids.filter((id) => id !== 'r7')) expect(await store.read(id)).toEqual(record(id, { state: 'settled' }));
  });

  test('updates of records that another process has changed, removed or made see the stored state, and no update is lost', async () => {
    const { store, other } = await open();
    await Promise.all(ids.slice(0, 48).map((id) => raise(store, id)));
    await Promise.all([...ids.slice(0, 16), ...ids.slice(48)].map((id) => raise(other, id)));
    await Promise.all(ids.slice(16, 32).map((id) => other.read(id).then(() => remove(other, id))));
    await Promise.all(ids.map((id) => raise(store, id)));
    expect(await counts(store)).toEqual(ids.map((_, n) => (n < 16 ? 3 : n < 32 ? 1 : 2)));
  });

  test('two processes that raise the same records at once lose no update', async () => {
    const { store, other } = await open();
    for (let n = 0; n < 5; n++) await Promise.all(ids.flatMap((id) => [raise(store, id), raise(other, id)]));
    expect(await counts(store)).toEqual(ids.map(() => 10));
  });

  test('a change that throws, one that changes nothing and one that removes do so within a shared request', async () => {
    const { store } = await open();
    await Promise.all(ids.map((id) => put(store, id)));
    const thrown = new Error('no');
    const throwing = (): never => {
      throw thrown;
    };
    const calls = ids.map((id, n) => {
      if (n % 4 === 0) return store.update(id, throwing).catch((error) => (error === thrown ? 'threw' : error));
      if (n % 4 === 1) return store.update(id, () => ({ value: 'left' }));
      return n % 4 === 2 ? remove(store, id) : raise(store, id);
    });
    expect(await ends(calls)).toEqual(ids.map((_, n) => ['threw', 'left', 'removed', 'raised'][n % 4]));
  });

  test.each(['answer lost', 'lost on its way'] as const)('%s: every update of the request is sent again, and takes effect once', async (fate) => {
    const { wire, store } = await open();
    await Promise.all(ids.map((id) => raise(store, id)));
    wire.requests = 0;
    wire.fate = (n) => (n === 1 ? fate : 'arrives');
    expect(await ends(ids.map((id) => raise(store, id)))).toEqual(all('raised'));
    expect(await counts(store)).toEqual(ids.map(() => 2));
  });

  test('every answer lost: no update is reported as stored, and each took effect only once', async () => {
    const { wire, store } = await open();
    await Promise.all(ids.map((id) => raise(store, id)));
    wire.fate = () => 'answer lost';
    expect(await ends(ids.map((id) => raise(store, id)))).toEqual(all('io'));
    wire.fate = () => 'arrives';
    expect(await counts(store)).toEqual(ids.map(() => 2));
  });

  // EPIPE, which Node gives, has five capital letters, as an SQLSTATE may have.
  test.each([undefined, 'EPIPE'])('removals whose answer was lost reject, because nobody can tell who removed the records; code %s', async (code) => {
    const { wire, store } = await open();
    wire.code = code;
    await Promise.all(ids.map((id) => put(store, id)));
    wire.requests = 0;
    wire.fate = (n) => (n === 1 ? 'answer lost' : 'arrives');
    expect(await ends(ids.map((id) => remove(store, id)))).toEqual(all('io'));
  });
}

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let tables = 0;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ ...server.connection, max: 6 });
  });
  afterAll(async () => {
    await pool.end();
    server.stop();
  });

  const through = (wire: Wire): PostgresClient => ({ query: (text, values) => wire.carry(() => pool.query(text, values)) });
  async function open(): Promise<Ground & { readonly table: string; readonly wire: Wire }> {
    const table = `t${tables++}`;
    await pool.query(postgresMigration({ table }));
    const wire = new Wire();
    return {
      table,
      wire,
      store: postgresStore(through(wire), { table }),
      other: postgresStore(pool, { table }),
      spoil: (id) => pool.query(`ALTER TABLE ${table} ADD CHECK (id <> '${id}')`),
    };
  }
  inEachCase(open, 'io');

  test('strict and relaxed updates go in separate statements, each with the commit that it asked for', async () => {
    const { store, table } = await open();
    await pool.query(
      `CREATE TABLE levels (id text, level text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN INSERT INTO levels VALUES (NEW.id, current_setting(''synchronous_commit'')); RETURN NEW; END';
       CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON ${table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`,
    );
    await Promise.all(ids.map((id, n) => store.update(id, () => ({ next: record(id), value: 0 }), { durability: n % 2 ? 'strict' : 'relaxed' })));
    const { rows } = await pool.query('SELECT DISTINCT level, substr(id, 2)::int % 2 AS strict FROM levels ORDER BY 2');
    expect(rows).toEqual([
      { level: 'off', strict: 0 },
      { level: 'on', strict: 1 },
    ]);
    expect((await pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  test.each(['put', 'remove'])('a row that somebody has locked holds up only its own update: %s', async (what) => {
    const { store, table, wire } = await open();
    await Promise.all(ids.map((id) => put(store, id)));
    const holder = await pool.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT 1 FROM ${table} WHERE id = 'r5' FOR UPDATE`);
    wire.requests = 0;
    let heldIsOver = false;
    const change = (id: string): Promise<unknown> => (what === 'put' ? raise(store, id) : remove(store, id));
    const held = change('r5').finally(() => void (heldIsOver = true));
    await Promise.all(ids.filter((id) => id !== 'r5').map(change));
    // One statement for all, and one for the locked row. If all had waited in vain, there would be one statement per
    // update.
    expect(wire.requests).toBe(2);
    // The locked row does not hold up later updates either.
    await Promise.all(ids.slice(32).map((id) => put(store, `later ${id}`)));
    expect(heldIsOver).toBe(false);
    await holder.query('COMMIT');
    holder.release();
    expect(await held).toBe(what === 'put' ? 'raised' : 'removed');
  });

  test('a new record that somebody else is inserting holds up its statement for half of the time limit, and then only its own update', async () => {
    const { store, table } = await open();
    await put(store, 'warm');
    const holder = await pool.connect();
    await holder.query('BEGIN');
    await holder.query(`INSERT INTO ${table} VALUES ('r5', 'theirs', 'ns', 'pending', '', 1000, '{}')`);
    const held = put(store, 'r5');
    expect(await ends(ids.filter((id) => id !== 'r5').map((id) => put(store, id)))).toEqual(all('stored').slice(1));
    await holder.query('COMMIT');
    holder.release();
    expect(await held).toBe('stored');
    expect((await pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows).toEqual([{ n: MANY + 1 }]);
  });

  test('two processes that begin the same operations at once do not deadlock', async () => {
    const { table } = await open();
    const [a, b] = [postgresStore(pool, { table }), postgresStore(pool, { table })];
    const start = performance.now();
    for (let round = 0; round < 20; round++) {
      const names = ids.map((id) => `${round} ${id}`);
      await Promise.all([...names.map((id) => raise(a, id)), ...names.reverse().map((id) => raise(b, id))]);
      expect(countOf(await a.read(`${round} r9`))).toBe(2);
    }
    const { rows } = await pool.query(`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`);
    expect(rows).toEqual([{ deadlocks: 0 }]);
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  test('a pool with no free connection: updates reject with timeout, and are not committed later', async () => {
    const { table, store } = await open();
    const narrow = new pg.Pool({ ...server.connection, max: 1 });
    const hasty = postgresStore(narrow, { table, timeoutMs: 300 });
    await expect.poll(() => hasty.read('warm').then(() => 'read', String)).toBe('read');
    const held = await narrow.connect();
    expect(await ends(ids.map((id) => put(hasty, id)))).toEqual(all('timeout'));
    await new Promise((done) => setTimeout(done, 1000));
    held.release();
    await expect.poll(() => narrow.waitingCount).toBe(0);
    expect(await ends(ids.map((id) => store.read(id)))).toEqual(ids.map(() => undefined));
    await narrow.end();
  });

  test('a shared statement uses the index, in a table of twenty thousand records', async () => {
    const { table, store } = await open();
    await pool.query(`INSERT INTO ${table} SELECT 'x' || n, 'x', 'ns', 'settled', '', n, '{}' FROM generate_series(1, 20000) n`);
    await pool.query(`ANALYZE ${table}`);
    const asked: { text: string; values: unknown[] }[] = [];
    const client: PostgresClient = {
      query(text, values = []) {
        asked.push({ text, values });
        return pool.query(text, values);
      },
    };
    const watched = postgresStore(client, { table });
    await store.read('warm');
    for (const change of [put, raise, remove]) await Promise.all(ids.map((id) => change(watched, id)));
    const many = asked.filter(({ text }) => text.includes('json_to_recordset'));
    expect(many).toHaveLength(3);
    for (const { text, values } of many) {
      const { rows } = await pool.query(`EXPLAIN ${text}`, values);
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toMatch(new RegExp(`Seq Scan on ${table}`));
    }
  });
});

describeOn(withoutRedis)('Redis', () => {
  let server: RedisServer;
  let admin: Redis;
  let prefixes = 0;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis<'legacy'>(server.port, '127.0.0.1');
    // The stores of all tests share this client, each through its own counting proxy.
    admin.setMaxListeners(0);
  });
  afterAll(() => {
    admin.disconnect();
    return server.stop();
  });

  const through = (wire: Wire): Redis =>
    new Proxy(admin, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return /^eval/.test(String(name)) ? (...args: unknown[]) => wire.carry(() => value.apply(target, args)) : value.bind(target);
      },
    });
  async function open(options: object = {}): Promise<Ground & { readonly base: string }> {
    const prefix = `p${prefixes++}`;
    const wire = new Wire();
    const store = redisStore(through(wire), { prefix, ...options });
    // After this, the store has asked for the server's policy, and the server knows the scripts.
    await put(store, 'warm');
    await remove(store, 'warm');
    return { base: `{${prefix}}`, wire, store, other: redisStore(admin, { prefix }), spoil: (id) => admin.hset(`{${prefix}}:r:${id}`, 'x', '1') };
  }
  inEachCase(open, 'corrupt');

  test('a full server: each new record is refused, and removals go on', async () => {
    const { store, base } = await open();
    await Promise.all(ids.slice(0, 32).map((id) => put(store, id)));
    await admin.config('SET', 'maxmemory', '1');
    const calls = ids.map((id, n) => (n < 32 ? remove(store, id) : put(store, id)));
    const said = await ends(calls);
    await admin.config('SET', 'maxmemory', '0');
    expect(said).toEqual(ids.map((_, n) => (n < 32 ? 'removed' : 'quota')));
    expect(await admin.keys(`${base}:*`)).toEqual([]);
  });
});
