/**
 * Goal: whatever happens to the server or the client, a call ends soon, reports nothing untrue and changes nothing
 * twice. Method: a real server that is killed, locked or misconfigured; clients whose connection is cut; errors by
 * their SQLSTATE.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import { createOnce } from '../../../src/entries/index.js';
import type { Store, Stored } from '../../../src/ports.js';
import { type PostgresClient, type PostgresStoreOptions, postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { countsWhileCut, storesUntilKilled } from '../../support/counts.js';
import { describeOn } from '../../support/describe-on.js';
import { ignore, put, record } from '../../support/stored.js';

const everyCall = (store: Store): (() => Promise<unknown>)[] => [
  () => put(store, record('x')),
  () => store.read('x'),
  () => store.scan({ before: 1, limit: 1 }),
];

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  const pools: pg.Pool[] = [];
  const poolOf = (config: pg.PoolConfig = {}): pg.Pool => {
    const pool = new pg.Pool({ ...server.connection, max: 4, ...config });
    // A pool's owner has to listen for idle connections that break.
    pool.on('error', ignore);
    pools.push(pool);
    return pool;
  };
  let tables = 0;
  const open = async (config: pg.PoolConfig = {}, options: PostgresStoreOptions = {}) => {
    const { table = `t${tables++}` } = options;
    await admin.query(postgresMigration({ table }));
    const pool = poolOf(config);
    return { pool, table, store: postgresStore(pool, { timeoutMs: 5000, ...options, table }) };
  };

  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Pool({ ...server.connection, max: 2 });
    admin.on('error', ignore);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(pools.splice(0).map((pool) => (pool.ended ? undefined : pool.end())));
  });
  afterAll(async () => {
    await admin.end();
    server.stop();
  });

  test('a pool or client that its owner closed: calls reject with closed', async () => {
    const { pool, store, table } = await open();
    await put(store, record('a'));
    await pool.end();
    for (const call of everyCall(store)) await expect(call()).rejects.toMatchObject({ name: 'StoreFault', reason: 'closed' });
    const client = new pg.Client(server.connection);
    await client.connect();
    const single = postgresStore(client, { table });
    await put(single, record('b'));
    await client.end();
    for (const call of everyCall(single)) await expect(call()).rejects.toMatchObject({ reason: 'closed' });
  });

  test('no table yet: the error says what to do, and after the migration updates are stored', async () => {
    const store = postgresStore(poolOf(), { table: 'later' });
    for (const call of everyCall(store))
      await expect(call()).rejects.toMatchObject({ reason: 'io', message: expect.stringMatching(/no table "later" yet.*postgresMigration/) });
    await admin.query(postgresMigration({ table: 'later' }));
    expect(await put(store, record('a'))).toBe('stored');
  });

  test('a table that is being restored, and has no rows and no primary key yet: a running process and a new one send nothing, and then go on', async () => {
    const { pool, store, table } = await open();
    await put(store, record('a'));
    await admin.query(`ALTER TABLE ${table} RENAME TO ${table}_backup`);
    // What a dump makes first; the rows come next, and the primary key last.
    await admin.query(`CREATE TABLE ${table} (LIKE ${table}_backup INCLUDING DEFAULTS INCLUDING COMMENTS); COMMENT ON TABLE ${table} IS 'oncefetch schema 1'`);
    for (const there of [store, postgresStore(pool, { table })]) {
      for (const id of ['a', 'b']) await expect(put(there, record(id))).rejects.toMatchObject({ reason: 'io', message: expect.stringContaining('unique') });
      const fetch = vi.fn<typeof globalThis.fetch>();
      const call = createOnce({ fetch, store: there }).fetch('https://shop.example/pay', { method: 'POST', once: ['pay', 1] });
      await expect(call).rejects.toMatchObject({ code: 'ERR_ONCE_STORE' });
      expect(fetch).not.toHaveBeenCalled();
    }
    await admin.query(`INSERT INTO ${table} SELECT * FROM ${table}_backup; ALTER TABLE ${table} ADD PRIMARY KEY (id)`);
    expect(await store.read('a')).toMatchObject({ id: 'a' });
    expect(await put(store, record('b'))).toBe('stored');
  });

  test('an UNLOGGED table, which a crash of the server empties: calls reject with denied, until the table is logged', async () => {
    const { table } = await open();
    await admin.query(`ALTER TABLE ${table} SET UNLOGGED`);
    const store = postgresStore(poolOf(), { table });
    for (const call of everyCall(store)) await expect(call()).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining('SET LOGGED') });
    await admin.query(`ALTER TABLE ${table} SET LOGGED`);
    expect(await put(store, record('a'))).toBe('stored');
  });

  test('a table that becomes UNLOGGED while a store uses it: it is noticed within a minute, by all calls, and so is the end of that', async () => {
    const { store, table } = await open();
    await put(store, record('a'));
    const real = performance.now.bind(performance);
    let minutes = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => real() + minutes * 60_000);
    await admin.query(`ALTER TABLE ${table} SET UNLOGGED`);
    expect(await put(store, record('a'))).toBe('stored');
    minutes++;
    for (let times = 0; times < 2; times++)
      for (const call of everyCall(store)) await expect(call()).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining('SET LOGGED') });
    await admin.query(`ALTER TABLE ${table} SET LOGGED`);
    expect(await put(store, record('b'))).toBe('stored');
  });

  test('a trigger that drops new rows without a word: updates reject, and nothing is sent', async () => {
    const { store, table } = await open({}, { timeoutMs: 1000 });
    await admin.query(`CREATE FUNCTION drops_${table}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER drops BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION drops_${table}()`);
    await expect(put(store, record('a'))).rejects.toMatchObject({ name: 'StoreFault' });
    await expect(Promise.all(['a', 'b'].map((id) => put(store, record(id))))).rejects.toMatchObject({ name: 'StoreFault' });
    let sent = 0;
    const once = createOnce({ store, fetch: async () => new Response(String(++sent)) });
    const error = await once.fetch('http://localhost/pay', { method: 'POST', once: ['pay', 42] }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'ERR_ONCE_STORE' });
    expect(sent).toBe(0);
  });

  test('a table that is renamed while a store uses it: calls reject, and go on when it has its name again', async () => {
    const { store, table } = await open();
    await put(store, record('a'));
    await admin.query(`ALTER TABLE ${table} RENAME TO ${table}_old`);
    for (const call of everyCall(store)) await expect(call()).rejects.toMatchObject({ reason: 'io' });
    await admin.query(`ALTER TABLE ${table}_old RENAME TO ${table}`);
    expect(await store.read('a')).toEqual(record('a'));
  });

  test.each(['LATIN1', 'EUC_JP'])('a database in %s, which lacks or changes some characters: they are stored and come back', async (encoding) => {
    const database = `in_${encoding.toLowerCase()}`;
    await admin.query(`CREATE DATABASE ${database} ENCODING ${encoding} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    const pool = poolOf({ database });
    await pool.query(postgresMigration());
    const store = postgresStore(pool);
    const text = 'é € 日本 ¦ \u{1F4B3} \\ \u0000 \ud800';
    const odd = ['a', 'b', 'ü'].map((id) => record(id, { label: JSON.stringify([id, text]), text }));
    await put(store, odd[0] as Stored);
    // Together, and so in one statement.
    await Promise.all(odd.map((one) => put(store, one)));
    for (const one of odd) expect(await store.read(one.id)).toEqual(one);
    expect((await store.scan({ ns: 'ns', state: 'pending', limit: 9 })).records).toEqual(odd);
  });

  test('a table of a newer version: calls reject with newer and change nothing, and the older migration leaves the table as it is', async () => {
    const { table } = await open();
    await admin.query(`COMMENT ON TABLE ${table} IS 'oncefetch schema 2'`);
    const store = postgresStore(poolOf(), { table });
    for (const call of everyCall(store)) await expect(call()).rejects.toMatchObject({ reason: 'newer', message: expect.stringMatching(/schema 2, this is 1/) });
    await admin.query(postgresMigration({ table }));
    await expect(store.read('a')).rejects.toMatchObject({ reason: 'newer' });
    expect((await admin.query(`SELECT count(*)::int AS n FROM ${table}`)).rows).toEqual([{ n: 0 }]);
  });

  test.each([false, true])('calls reject with newer as well if the upgrade comes while a store of this version is in use; prepare: %o', async (prepare) => {
    const { store, table } = await open({}, { prepare });
    const records = ['a', 'b', 'c'].map((id) => record(id));
    await Promise.all(records.map((one) => put(store, one)));
    // A newer migration does both, so that it stops processes that have looked at the comment already.
    await admin.query(`ALTER TABLE ${table} RENAME rev TO version; COMMENT ON TABLE ${table} IS 'oncefetch schema 2'`);
    const updates = [
      () => store.update('a', (current) => ({ next: { ...(current as Stored), state: 'settled' as const }, value: 0 })),
      () => store.update('a', () => ({ next: null, value: 0 })),
      () => Promise.all(['d', 'e', 'f'].map((id) => put(store, record(id)))),
      () => Promise.all(records.map(({ id }) => store.update(id, () => ({ next: null, value: 0 })))),
      () => store.scan({ ns: 'ns', state: 'pending', limit: 1 }),
      () => store.sweep(),
    ];
    for (const call of [...updates, ...everyCall(store)])
      await expect(call()).rejects.toMatchObject({ reason: 'newer', message: expect.stringMatching(/schema 2, this is 1/) });
    expect((await admin.query(`SELECT data FROM ${table} ORDER BY id`)).rows.map(({ data }) => JSON.parse(data))).toEqual(records);
  });

  test('the migration makes nothing that a table of a newer version does without', async () => {
    const { table } = await open();
    await admin.query(`COMMENT ON TABLE ${table} IS 'oncefetch schema 2'; DROP INDEX ${table}_place`);
    await admin.query(postgresMigration({ table }));
    expect((await admin.query(`SELECT indexname FROM pg_indexes WHERE tablename = '${table}' ORDER BY indexname`)).rows).toEqual([
      { indexname: `${table}_pkey` },
      { indexname: `${table}_time` },
    ]);
  });

  test('a migration that waits for that of a newer version leaves its table as it is, too', async () => {
    const newer = await admin.connect();
    await newer.query(`BEGIN; ${postgresMigration({ table: 'raced' })} COMMENT ON TABLE raced IS 'oncefetch schema 2'; DROP INDEX raced_place`);
    const older = admin.query(postgresMigration({ table: 'raced' }));
    await expect.poll(async () => (await newer.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`)).rows).toHaveLength(1);
    await newer.query('COMMIT');
    await older;
    expect((await newer.query(`SELECT to_regclass('raced_place') AS place, to_regclass('raced_time')::text AS time`)).rows).toEqual([
      { place: null, time: 'raced_time' },
    ]);
    newer.release();
  });

  test('an update keeps the unknown fields of a record that a newer version wrote', async () => {
    const { store } = await open();
    const newer = record('n', { v: 99, novel: { deep: [1] } });
    await put(store, newer);
    await store.update('n', (current) => ({ next: { ...(current as Stored), state: 'settled' }, value: 0 }));
    expect(await store.read('n')).toEqual({ ...newer, state: 'settled' });
  });

  test.each([1, 2])(
    'connections cut during updates, again and again, %i writers: each resolved update took effect once, each rejected one at most once',
    async (writers) => {
      const { store, table } = await open({}, { timeoutMs: 5000 });
      const stores = [store, ...Array.from({ length: writers - 1 }, () => postgresStore(poolOf(), { table }))];
      const cut = () => admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%${table}%'`);
      await countsWhileCut(stores, 100, cut, () => 15);
    },
  );

  test('A34: a server that crashes during updates: every record of an acknowledged strict update is there when the server is back', async () => {
    const { store } = await open();
    const { stored, fault } = await storesUntilKilled(store, () => server.kill());
    expect(fault).toMatchObject({ reason: expect.stringMatching(/io|timeout|blocked/) });
    await expect(store.read('k0')).rejects.toMatchObject({ reason: expect.stringMatching(/io|timeout|blocked/) });
    server.start();
    for (const id of stored) expect(await store.read(id), id).toEqual(record(id));
  });

  test.each([1, 2])('SQLSTATE 40003 leaves open whether a commit happened: %i updates at once take effect once each, and reject', async (updates) => {
    const { store, pool, table } = await open();
    const ids = ['a', 'b'].slice(0, updates);
    const add = (one: Store, id: string) =>
      one.update(id, (current) => ({ next: record(id, { n: Number((current as { n?: number } | undefined)?.n ?? 0) + 1 }), value: undefined }));
    let unknown = 0;
    const client: PostgresClient = {
      async query(text, values) {
        const found = await pool.query(text, values);
        if (!/INSERT/.test(text) || unknown++) return found;
        for (let n = 0; n < 4; n++) for (const id of ids) await add(store, id);
        throw Object.assign(new Error('result is ambiguous'), { code: '40003' });
      },
    };
    const unsure = postgresStore(client, { table });
    for (const end of await Promise.allSettled(ids.map((id) => add(unsure, id)))) expect(end).toMatchObject({ status: 'rejected', reason: { reason: 'io' } });
    for (const id of ids) expect(await store.read(id)).toMatchObject({ n: 5 });
  });

  test('a row that somebody has locked: the update rejects at the time limit, the pool gets its connection back, and later updates are stored', async () => {
    const { store, pool, table } = await open({}, { timeoutMs: 2500 });
    await put(store, record('a'));
    await put(store, record('b'));
    const holder = await admin.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`);
    const start = performance.now();
    const [a, b] = await Promise.allSettled([put(store, record('a', { count: 1 })), put(store, record('b', { count: 1 }))]);
    expect((a as PromiseRejectedResult).reason.reason).toMatch(/blocked|timeout/);
    expect(performance.now() - start).toBeLessThan(8000);
    expect(b.status).toBe('fulfilled');
    await vi.waitFor(() => expect(pool.idleCount).toBe(pool.totalCount), { timeout: 3000 });
    await holder.query('ROLLBACK');
    holder.release();
    expect(await put(store, record('a', { count: 2 }))).toBe('stored');
    expect(await store.read('a')).toEqual(record('a', { count: 2 }));
  });

  test('a pool with no free connection: the update rejects with timeout, and is not committed later', async () => {
    const { store, pool, table } = await open({ max: 1 });
    const hasty = postgresStore(pool, { table, timeoutMs: 300 });
    const held = await pool.connect();
    await expect(put(hasty, record('late'))).rejects.toMatchObject({ reason: 'timeout' });
    await new Promise((done) => setTimeout(done, 1000));
    held.release();
    expect(await store.read('late')).toBeUndefined();
  });

  test('a server that takes no more connections: the update rejects with blocked or timeout', async () => {
    const { table } = await open();
    await admin.query('CREATE ROLE narrow LOGIN CONNECTION LIMIT 1');
    await admin.query(`GRANT ALL ON ${table} TO narrow`);
    const [first, second] = [poolOf({ user: 'narrow', max: 1 }), poolOf({ user: 'narrow', max: 1 })];
    const held = await second.connect();
    await expect(put(postgresStore(first, { table, timeoutMs: 1000 }), record('a'))).rejects.toMatchObject({
      reason: expect.stringMatching(/blocked|timeout/),
    });
    await first.end();
    held.release();
    expect(await put(postgresStore(second, { table }), record('a'))).toBe('stored');
  });

  test('a user without the permission, or a read-only server: calls reject with denied', async () => {
    const { table } = await open();
    await admin.query('CREATE ROLE stranger LOGIN');
    const stranger = postgresStore(poolOf({ user: 'stranger' }), { table });
    for (const call of everyCall(stranger)) await expect(call()).rejects.toMatchObject({ reason: 'denied' });
    const readOnly = postgresStore(poolOf({ options: '-c default_transaction_read_only=on' }), { table });
    for (const call of everyCall(readOnly)) await expect(call()).rejects.toMatchObject({ reason: 'denied' });
  });

  test.each([undefined, "Other's place"])('a user who may make no tables runs the migration again, and then the store; schema %s', async (schema) => {
    const { table } = await open();
    const user = `app_${table}`;
    await admin.query(`CREATE ROLE ${user} LOGIN`);
    if (schema) await admin.query(`CREATE SCHEMA "${schema}"; GRANT USAGE ON SCHEMA "${schema}" TO ${user}`);
    await admin.query(postgresMigration({ table, schema }));
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema ? `"${schema}".` : ''}${table} TO ${user}`);
    const app = poolOf({ user });
    await app.query(postgresMigration({ table, schema }));
    expect(await put(postgresStore(app, { table, schema }), record('a'))).toBe('stored');
    await expect(app.query(postgresMigration({ table: `${table}_not`, schema }))).rejects.toMatchObject({ code: '42501' });
  });

  test('a statement that the server cancels because of statement_timeout: the update rejects with timeout', async () => {
    const { store, table } = await open({ options: '-c statement_timeout=100' });
    await put(store, record('a'));
    const holder = await admin.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT 1 FROM ${table} WHERE id = 'a' FOR UPDATE`);
    await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'timeout' });
    await holder.query('ROLLBACK');
    holder.release();
  });

  test('a look that fails to serialize, as it may where transactions are serializable: it is made again, as an update is', async () => {
    const { pool, store: other, table } = await open();
    await put(other, record('a', { state: 'settled' }));
    let fails = true;
    const client: PostgresClient = {
      async query(text, values) {
        fails = !fails;
        if (fails) throw Object.assign(new Error('could not serialize access'), { code: '40001' });
        return pool.query(text, values);
      },
    };
    const store = postgresStore(client, { table });
    const looks = [() => store.read('a'), () => store.scan({ ns: 'ns', state: 'settled', limit: 9 }), () => store.scan({ before: 1, limit: 9 })];
    for (const look of [...looks, () => store.sweep()]) {
      await expect(look()).resolves.toBeDefined();
      expect(fails).toBe(false);
    }
  });

  test('a table whose column somebody dropped: updates and reads reject with io', async () => {
    const { store, table } = await open();
    await put(store, record('a'));
    await admin.query(`ALTER TABLE ${table} DROP COLUMN data`);
    for (const call of everyCall(store).slice(0, 2)) await expect(call()).rejects.toMatchObject({ reason: 'io' });
  });
});

test.each([
  ['53100', 'quota'],
  ['53200', 'quota'],
  ['54000', 'quota'],
  ['28P01', 'denied'],
  ['42501', 'denied'],
  ['57014', 'timeout'],
  ['XX001', 'corrupt'],
  ['08006', 'io'],
  ['ECONNREFUSED', 'io'],
  [undefined, 'io'],
])('an error with the code %s becomes a fault with the reason %s', async (code, reason) => {
  const client: PostgresClient = { query: () => Promise.reject(Object.assign(new Error('it says so'), { code })) };
  await expect(postgresStore(client, { timeoutMs: 500 }).read('a')).rejects.toMatchObject({
    name: 'StoreFault',
    reason,
    message: expect.stringContaining('it says so'),
  });
});

test('A5: a named call sends nothing if the server is gone, because an earlier key may be stored there', async () => {
  let sent = 0;
  const once = createOnce({
    store: postgresStore({ query: () => Promise.reject(new Error('gone')) }, { timeoutMs: 300 }),
    fetch: async () => new Response(String(++sent)),
  });
  const error = await once.fetch('http://localhost/pay', { method: 'POST', once: ['pay', 42] }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  expect(sent).toBe(0);
});

test('a server that never answers: calls reject with timeout', async () => {
  const store = postgresStore({ query: () => new Promise(ignore) }, { timeoutMs: 100 });
  for (const call of [...everyCall(store), () => store.sweep()]) await expect(call()).rejects.toMatchObject({ reason: 'timeout' });
});
