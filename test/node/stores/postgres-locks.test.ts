/**
 * Goal: a lock that somebody else holds in PostgreSQL makes no update take effect twice, and a migration holds up nobody. Method: a real
 * server on which others lock rows or the table; connections that break while a statement waits.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import type { Store } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { describeOn } from '../../support/describe-on.js';
import { raise, record } from '../../support/stored.js';

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let admin: pg.Pool;
  let pool: pg.Pool;
  let store: Store;
  const connections = new Set<pg.PoolClient>();

  beforeAll(async () => {
    server = await startPostgres();
    admin = new pg.Pool({ ...server.connection, max: 4 });
    pool = new pg.Pool({ ...server.connection, max: 4 });
    pool.on('error', () => {});
    pool.on('connect', (client) => void connections.add(client));
    await admin.query(postgresMigration());
    store = postgresStore(pool);
  });
  afterAll(async () => {
    await Promise.all([admin.end(), pool.end()]);
    server.stop();
  });

  /** Breaks the store's connections. The server does not notice while its statement waits. */
  const cut = (): void => {
    for (const client of connections) (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    connections.clear();
  };
  /** Runs `sql` in somebody else's transaction, which stays open until the returned function rolls it back. */
  const holding = async (sql: string): Promise<() => Promise<unknown>> => {
    const client = await admin.connect();
    await client.query('BEGIN');
    await client.query(sql);
    return () => client.query('ROLLBACK').finally(() => client.release());
  };
  const waiting = (count: number): Promise<void> =>
    expect
      .poll(async () => (await admin.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid()`)).rowCount)
      .toBe(count);

  test('a connection that breaks while its statement waits for a row makes no update take effect twice', async () => {
    await raise(store, 'n');
    const release = await holding(`SELECT 1 FROM oncefetch_records WHERE id = 'n' FOR UPDATE`);
    const raised = raise(store, 'n');
    await waiting(1);
    cut();
    // Both copies of the statement wait. The first one commits; the second one began earlier than that, so it sees the older row.
    await waiting(2);
    await release();
    await raised;
    expect(await store.read('n')).toEqual(record('n', { count: 2 }));
  });

  test('while the whole table is locked, a pool with lock_timeout keeps no more connections than it has, and the updates are made after that', async () => {
    const patient = new pg.Pool({ ...server.connection, max: 2, lock_timeout: 500 });
    const own = postgresStore(patient);
    await raise(own, 'own');
    const release = await holding('LOCK TABLE oncefetch_records');
    const raised = ['p', 'q', 'own'].map((id) => raise(own, id));
    // Longer than the time after which the pool gives up a connection that does not answer.
    for (let looks = 0; looks < 8; looks++) {
      await pause(400);
      expect((await admin.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rowCount).toBeLessThanOrEqual(2);
    }
    await release();
    await Promise.all(raised);
    await patient.end();
  });

  test('a connection that breaks, and others who change the record before the store looks again: the update rejects if nobody can tell what it did', async () => {
    await raise(store, 'm');
    const release = await holding(`SELECT 1 FROM oncefetch_records WHERE id = 'm' FOR UPDATE`);
    const raised = raise(store, 'm').then(
      () => 'resolved',
      (fault) => fault,
    );
    await waiting(1);
    cut();
    await waiting(2);
    await release();
    const others = postgresStore(admin);
    for (let n = 0; n < 4; n++) await raise(others, 'm');
    const end = await raised;
    const stored = await store.read('m');
    if (end === 'resolved') expect(stored).toEqual(record('m', { count: 6 }));
    else {
      expect(end).toMatchObject({ reason: 'io', message: expect.stringContaining('can not be told') });
      // The others may have come before both copies of the statement, which then change nothing.
      expect([record('m', { count: 5 }), record('m', { count: 6 })]).toContainEqual(stored);
    }
  });

  test('the migration, run again beside an open transaction, holds up nobody and waits for nobody', async () => {
    await raise(store, 'o');
    const release = await holding(`UPDATE oncefetch_records SET forget_at = 1 WHERE id = 'o'`);
    const migrated = admin.query(postgresMigration());
    const first = await Promise.race([migrated.then(() => 'migrated'), pause(3000).then(() => 'it waits')]);
    await raise(store, 'p');
    await release();
    await migrated;
    expect(first).toBe('migrated');
  });

  test('the migration, run again beside a transaction that has run it, waits for nobody', async () => {
    const release = await holding(postgresMigration());
    const migrated = admin.query(postgresMigration());
    const first = await Promise.race([migrated.then(() => 'migrated'), pause(3000).then(() => 'it waits')]);
    await release();
    await migrated;
    expect(first).toBe('migrated');
  });

  test('a migration that has to change the table gives up its wait for the lock after a second', async () => {
    await admin.query(postgresMigration({ table: 'busy' }));
    await admin.query('DROP INDEX busy_time');
    const busy = postgresStore(pool, { table: 'busy' });
    await raise(busy, 'o');
    const release = await holding(`UPDATE busy SET forget_at = 1 WHERE id = 'o'`);
    const started = performance.now();
    const migrated = expect(admin.query(postgresMigration({ table: 'busy' }))).rejects.toMatchObject({ code: '55P03' });
    await waiting(1);
    // This update queues behind the migration, and waits no longer than the migration does.
    await raise(busy, 'p');
    await migrated;
    expect(performance.now() - started).toBeLessThan(4000);
    await release();
    await admin.query(postgresMigration({ table: 'busy' }));
    expect((await admin.query(`SELECT to_regclass('busy_time') IS NOT NULL AS there`)).rows).toEqual([{ there: true }]);
  });

  test.each([
    ['gives up its wait after ten seconds', '0', 10_000],
    ['waits as long as the lock_timeout of its connection says', '500ms', 500],
  ])('a first migration beside one in a transaction that stays open %s', async (_, patience, ms) => {
    const release = await holding(postgresMigration({ table: 'first' }));
    const client = await admin.connect();
    await client.query(`SET lock_timeout = '${patience}'`);
    const started = performance.now();
    const migrated = client.query(postgresMigration({ table: 'first' })).then(
      () => 'migrated',
      (error) => error.code,
    );
    const end = await Promise.race([migrated, pause(13_000).then(() => 'it waits')]);
    const took = performance.now() - started;
    await release();
    await migrated;
    await client.query('RESET lock_timeout');
    client.release();
    expect(end).toBe('55P03');
    expect(took).toBeGreaterThan(ms - 50);
  });

  test('the migration leaves the lock_timeout of its transaction as it was', async () => {
    const client = await admin.connect();
    await client.query(`BEGIN; SET LOCAL lock_timeout = '7s'`);
    await client.query(postgresMigration({ table: 'within' }));
    expect((await client.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '7s' }]);
    await client.query('ROLLBACK');
    client.release();
  });

  test('the migration makes its indexes in the first schema of search_path, although a later schema has the same table', async () => {
    const client = await admin.connect();
    await client.query('CREATE SCHEMA first; SET search_path = first, public');
    await client.query(postgresMigration());
    const { rows } = await client.query(`SELECT indexname FROM pg_indexes WHERE schemaname = 'first' ORDER BY indexname`);
    expect(rows.map(({ indexname }) => indexname)).toEqual(['oncefetch_records_pkey', 'oncefetch_records_place', 'oncefetch_records_time']);
    await client.query('RESET search_path');
    client.release();
  });
});
