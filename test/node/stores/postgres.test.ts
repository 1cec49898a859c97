/**
 * Goal: PostgreSQL keeps the store contract, usually in one statement per update, uses its indexes, and is swept without
 * locking anybody out. Method: a real server; a client that records the statements.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import type { Stored } from '../../../src/ports.js';
import { type PostgresClient, postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { ordered } from '../../../src/stores/text.js';
import { storeContract } from '../../../src/testing/store-contract.js';
import { describeOn } from '../../support/describe-on.js';
import { made } from '../../support/made.js';
import { aRecord } from '../../support/record.js';
import { put, raise, record } from '../../support/stored.js';

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let [pool, single] = [undefined as unknown as pg.Pool, undefined as unknown as pg.Client];
  const asked: { text: string; values: unknown[] | undefined }[] = [];
  const counted = (client: () => { query: PostgresClient['query'] }, more: object = {}): PostgresClient => ({
    ...more,
    query(text, values) {
      asked.push({ text, values });
      return client().query(text, values);
    },
  });
  const [throughPool, throughClient] = [counted(() => pool), counted(() => single, { processID: 0 })];

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ ...server.connection, max: 4 });
    single = new pg.Client(server.connection);
    await single.connect();
    await pool.query(postgresMigration());
  });
  afterAll(async () => {
    await pool.end();
    await single.end();
    server.stop();
  });

  const migrated = new Map<string, Promise<unknown>>();
  /** Each medium is a table, made once. */
  const make = (table: string) => migrated.get(table) ?? migrated.set(table, pool.query(postgresMigration({ table }))).get(table);

  for (const [name, client] of [
    ['a pool of pg', throughPool],
    ['a client of pg', throughClient],
  ] as const) {
    const tableOf = (medium: string) => `${name.split(' ')[1]}-${medium}`;
    const report = storeContract({
      name,
      test,
      open: async (medium) => {
        await make(tableOf(medium));
        return postgresStore(client, { table: tableOf(medium) });
      },
      plant: async (medium, id, value) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        // The index leads to the damaged record, so scans meet it.
        const sql = `INSERT INTO "${tableOf(medium)}" VALUES ($1, 'by hand', 'ns', 'pending', $2, 1000, $3) ON CONFLICT (id) DO UPDATE SET data = $3`;
        await pool.query(sql, [ordered(id), ordered(`["pay","${id}"]`), text]);
      },
      work: () => asked.length,
    });
    afterAll(() => expect(report.left).toEqual([]));
  }

  let tables = 0;
  const open = async (client: PostgresClient = throughPool): Promise<{ store: ReturnType<typeof postgresStore>; table: string }> => {
    const table = `own_${tables++}`;
    await make(table);
    return { table, store: postgresStore(client, { table }) };
  };
  const statements = async (work: () => Promise<unknown>): Promise<number> => {
    const before = asked.length;
    await work();
    return asked.length - before;
  };

  test('beginning, settling, looking at and removing a record take one statement each', async () => {
    const { store } = await open();
    await put(store, record('first'));
    expect(await statements(() => put(store, record('a')))).toBe(1);
    expect(await statements(() => put(store, record('a', { state: 'settled' }), 'relaxed'))).toBe(1);
    expect(await statements(() => store.update('a', () => ({ value: 1 })))).toBe(1);
    expect(await statements(() => store.update('a', () => ({ next: null, value: 1 })))).toBe(1);
    expect(await statements(() => store.update('a', (current) => ({ value: current })))).toBe(1);
    expect(await store.read('a')).toBeUndefined();
  });

  test('a record that another store changed takes two statements to change, and one to look at', async () => {
    const { store: a, table } = await open();
    const [b, c] = [postgresStore(throughPool, { table }), postgresStore(throughPool, { table })];
    await put(a, record('x', { count: 1 }));
    await Promise.all([put(b, record('first')), put(c, record('second'))]);
    const seen: unknown[] = [];
    expect(await statements(() => b.update('x', (current) => ({ value: seen.push(current) })))).toBe(1);
    expect(seen).toEqual([undefined, record('x', { count: 1 })]);
    expect(await statements(() => put(c, record('x', { count: 2 })))).toBe(2);
    expect(await statements(() => b.update('x', (current) => ({ value: seen.push(current) })))).toBe(1);
    expect(seen.at(-1)).toEqual(record('x', { count: 2 }));
  });

  test('A32: an update gets the server’s time, however wrong the clock of this machine is', async () => {
    const { store } = await open();
    const real = Date.now;
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => real() - 86_400_000);
    const wrong = postgresStore(throughPool, { table: (await open()).table });
    const begun = real();
    const now = await wrong.update('a', (_, at) => ({ next: record('a'), value: at }));
    spy.mockRestore();
    const later = await store.update('a', (_, at) => ({ value: at }));
    for (const time of [now, later]) expect(Math.abs(time - begun)).toBeLessThan(1000 + Date.now() - begun);
  });

  /** Until the test ends, commits do not wait for the disk. Many in a row take as long as the disk lets them, and an update has only the store's time. */
  async function withoutDisk(): Promise<void> {
    const set = async (to: 'off' | 'on') => {
      await pool.query(`ALTER SYSTEM SET fsync = ${to}`);
      await pool.query('SELECT pg_reload_conf()');
      await expect.poll(async () => (await pool.query('SHOW fsync')).rows).toEqual([{ fsync: to }]);
    };
    onTestFinished(() => set('on'));
    await set('off');
  }

  test('A22: eight stores that raise one record at once, over as many connections, lose no update', async () => {
    const { table } = await open();
    await withoutDisk();
    const wide = new pg.Pool({ ...server.connection, max: 8 });
    const stores = Array.from({ length: 8 }, () => postgresStore(wide, { table }));
    await Promise.all(stores.flatMap((store) => Array.from({ length: 10 }, () => raise(store))));
    expect(await stores[0]?.read('n')).toMatchObject({ count: 80 });
    await wide.end();
  });

  test.each(['repeatable read', 'serializable'])('four stores that raise one record at once lose no update if transactions are %s', async (level) => {
    const { table } = await open();
    await withoutDisk();
    const wide = new pg.Pool({ ...server.connection, max: 4, options: `-c default_transaction_isolation=${level.replace(' ', '\\ ')}` });
    expect((await wide.query('SHOW default_transaction_isolation')).rows).toEqual([{ default_transaction_isolation: level }]);
    const stores = Array.from({ length: 4 }, () => postgresStore(wide, { table }));
    await Promise.all(stores.flatMap((store) => Array.from({ length: 10 }, () => raise(store))));
    expect(await stores[0]?.read('n')).toMatchObject({ count: 40 });
    await wide.end();
  });

  test('statements may be prepared, on two tables over one connection', async () => {
    const one = new pg.Pool({ ...server.connection, max: 1 });
    const stores = [postgresStore(one, { table: (await open()).table, prepare: true }), postgresStore(one, { table: (await open()).table, prepare: true })];
    for (const [n, store] of stores.entries()) for (const count of [1, 2]) await put(store, record('a', { n, count }));
    for (const [n, store] of stores.entries()) expect(await store.read('a')).toEqual(record('a', { n, count: 2 }));
    expect((await one.query('SELECT count(*)::int AS n FROM pg_prepared_statements')).rows[0].n).toBeGreaterThanOrEqual(6);
    await one.end();
  });

  test('A34: a strict commit waits for the disk even if the server is set up not to; a relaxed commit does not', async () => {
    const { table } = await open();
    const lax = new pg.Pool({ ...server.connection, max: 1, options: '-c synchronous_commit=off' });
    const store = postgresStore(lax, { table });
    // A trigger of the server notes the setting within the transaction of each update.
    await pool.query(
      `CREATE TABLE levels (level text); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN INSERT INTO levels VALUES (current_setting(''synchronous_commit'')); RETURN NEW; END';
       CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON ${table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`,
    );
    await put(store, record('a'), 'strict');
    await put(store, record('a', { count: 1 }), 'relaxed');
    await put(store, record('a', { count: 2 }), 'strict');
    expect((await pool.query('SELECT level FROM levels')).rows.map(({ level }) => level)).toEqual(['on', 'off', 'on']);
    // The settings of the connection stay as they were.
    expect((await lax.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }]);
    expect((await lax.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
    await lax.end();
  });

  test('scans and sweeps use an index, among twenty thousand records of one namespace', async () => {
    const { store, table } = await open();
    await pool.query(
      `INSERT INTO ${table} SELECT 'r' || n, 'x', 'ns', CASE WHEN n % 2 = 0 THEN 'pending' ELSE 'settled' END, 'label ' || lpad(n::text, 6, '0'), n, '{}' FROM generate_series(1, 20000) n`,
    );
    await pool.query(`ANALYZE ${table}`);
    const planOf = async (work: () => Promise<unknown>): Promise<string> => {
      const before = asked.length;
      await work();
      const { text, values } = asked[before] as { text: string; values: unknown[] };
      return (await pool.query(`EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) ${text}`, values)).rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    await store.read('warm');
    const page = await planOf(() =>
      store.scan({ ns: 'ns', state: 'pending', prefix: 'label 0', after: JSON.stringify(['label 010000', 'r10000']), limit: 10 }),
    );
    expect(page).toMatch(/Index Scan using \w+_place/);
    // The scan starts where the page begins, and reads no further than its end.
    expect(Math.max(...[...page.matchAll(/actual rows=(\d+)/g)].map(([, rows]) => Number(rows)))).toBeLessThan(40);
    expect(await planOf(() => store.scan({ before: 50, limit: 10 }))).toMatch(/Index Scan using \w+_time/);
    expect(await planOf(() => put(store, record('one')))).not.toMatch(/Seq Scan/);
  });

  test('labels too long for an index are stored, sorted and found', async () => {
    const { store } = await open();
    const labels = [`${'é'.repeat(2000)}b`, `${'é'.repeat(2000)}a`, 'é'.repeat(1999), `${'é'.repeat(300)}z`];
    for (const [n, label] of labels.entries()) await put(store, record(`r${n}`, { label }));
    const ids = async (prefix: string, after?: string) =>
      (await store.scan({ ns: 'ns', state: 'pending', prefix, after, limit: 9 })).records.map((one) => (one as Stored).id);
    expect(await ids('é')).toEqual(['r3', 'r2', 'r1', 'r0']);
    expect(await ids('é'.repeat(1999))).toEqual(['r2', 'r1', 'r0']);
    expect(await ids('é'.repeat(1999), JSON.stringify([labels[1], 'r1']))).toEqual(['r0']);
  });

  test('docs/stores.md shows the SQL of the migration', () => {
    expect(readFileSync(join(import.meta.dirname, '../../../docs/stores.md'), 'utf8')).toContain(`\n${postgresMigration()}\n`);
  });

  describe('the table', () => {
    test.each(['Odd "name"; DROP TABLE x; --', "o'clock", 'dollar $$ END; $$', '$oncefetch$ END; --', 'select', 'ä'.repeat(28)])(
      'may be called %s, in a schema of the same name',
      async (name) => {
        await pool.query(`CREATE SCHEMA "${name.replaceAll('"', '""')}"`);
        const place = { table: name, schema: name };
        await pool.query(postgresMigration(place));
        const store = postgresStore(pool, place);
        await put(store, record('a'));
        expect(await store.read('a')).toEqual(record('a'));
        expect((await store.scan({ ns: 'ns', state: 'pending', limit: 1 })).records).toEqual([record('a')]);
        expect((await pool.query('SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = $1 AND tablename = $1', [name])).rows).toEqual([{ n: 1 }]);
      },
    );

    test.each([{ table: '' }, { table: 'x'.repeat(58) }, { table: 'a\0b' }, { schema: '' }, { table: 7 }])('cannot be called %o', (options) => {
      expect(() => postgresStore(pool, options as never)).toThrow(TypeError);
      expect(() => postgresMigration(options as never)).toThrow(TypeError);
    });

    test('may be migrated by many at once, and again later', async () => {
      await Promise.all(Array.from({ length: 8 }, () => pool.query(postgresMigration({ table: 'raced' }))));
      const store = postgresStore(pool, { table: 'raced' });
      await put(store, record('a'));
      await pool.query(postgresMigration({ table: 'raced' }));
      expect(await store.read('a')).toEqual(record('a'));
    });
  });

  describe('sweep', () => {
    const settled = (id: string, more: object = {}): Stored => aRecord({ id: made(id), label: made(`["${id}"]`), state: 'settled', forgetAt: 1000, ...more });

    test('removes due records in short statements, and none that is pending, damaged, or not due', async () => {
      const { store, table } = await open();
      for (let n = 0; n < 25; n++) await put(store, settled(`s${n}`), 'relaxed');
      await put(store, settled('retired', { state: 'retired' }));
      await put(store, settled('pending', { state: 'pending' }));
      await put(store, settled('later', { forgetAt: Date.now() + 60_000 }));
      await put(store, settled('bad'));
      await pool.query(`UPDATE ${table} SET data = replace(data, '"key":"k"', '"key":"x"') WHERE id = 'bad'`);
      const before = asked.length;
      expect(await store.sweep({ limit: 10 })).toBe(26);
      expect(asked.slice(before).filter(({ text }) => text.startsWith('DELETE')).length).toBeLessThanOrEqual(4);
      expect((await pool.query(`SELECT id FROM ${table} ORDER BY id`)).rows.map(({ id }) => id)).toEqual(['bad', 'later', 'pending']);
      expect(await store.sweep()).toBe(0);
    });

    test.each([0, Number.NaN])('of %d rows at a time is refused, because it would never end', async (limit) => {
      await expect((await open()).store.sweep({ limit })).rejects.toThrow(RangeError);
    });

    test('before NaN is refused: to PostgreSQL, every time is before NaN, so that all records of finished payments would go', async () => {
      const { store } = await open();
      await put(store, settled('a', { forgetAt: Date.now() + 60_000 }));
      await expect(store.sweep({ before: Number.NaN })).rejects.toThrow(RangeError);
      expect(await store.read('a')).toBeDefined();
    });

    test('skips a row that somebody has locked, and removes it later', async () => {
      const { store, table } = await open();
      for (const id of ['a', 'b', 'c']) await put(store, settled(id));
      const worker = new pg.Client(server.connection);
      await worker.connect();
      await worker.query('BEGIN');
      await worker.query(`SELECT 1 FROM ${table} WHERE id = 'b' FOR UPDATE`);
      expect(await store.sweep()).toBe(2);
      await worker.query('ROLLBACK');
      expect(await store.sweep()).toBe(1);
      await worker.end();
    });

    test.each(['the answer to whose removal was lost', 'that another sweep removes at the same moment'])(
      'skips no due record because of one %s',
      async (how) => {
        const { table } = await open();
        const other = postgresStore(pool, { table });
        await Promise.all(Array.from({ length: 60 }, (_, n) => put(other, settled(`s${n}`, { forgetAt: 1000 + n }), 'relaxed')));
        let first = true;
        const store = postgresStore(
          {
            async query(text, values) {
              const mine = first && text.startsWith('DELETE');
              if (mine) first = false;
              if (mine && how.startsWith('that')) await pool.query(text, values);
              const found = await pool.query(text, values);
              if (mine && how.startsWith('the')) throw new Error('Connection terminated unexpectedly');
              return found;
            },
          },
          { table },
        );
        await store.sweep({ limit: 20 });
        expect((await pool.query(`SELECT count(*)::int AS left FROM ${table}`)).rows).toEqual([{ left: 0 }]);
      },
    );

    test('leaves a record that became pending again after the sweep found it', async () => {
      const { table } = await open();
      const other = postgresStore(pool, { table });
      await put(other, settled('a'));
      const store = postgresStore(
        {
          async query(text, values) {
            if (text.startsWith('DELETE')) await put(other, settled('a', { state: 'pending', revision: 2 }));
            return pool.query(text, values);
          },
        },
        { table },
      );
      expect(await store.sweep()).toBe(0);
      expect(await other.read('a')).toMatchObject({ state: 'pending' });
    });
  });

  test('the store declares what a strict commit keeps', () => {
    expect(postgresStore(pool)).toMatchObject({ kind: 'postgres', survives: 'machine', shared: 'cluster', atomic: true, ownClock: true });
    expect(postgresStore(pool).scope).toBe(postgresStore(pool).scope);
    expect(postgresStore(pool).scope).not.toBe(postgresStore(pool, { table: 'x' }).scope);
    for (const none of [null, {}, { query: 1 }]) expect(() => postgresStore(none as never)).toThrow(/Pool or Client/);
  });
});
