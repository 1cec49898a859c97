/**
 * Goal: whoever holds a lock in PostgreSQL makes no update take effect twice, and a migration holds up nobody. Method: a real
 * server, on which others have rows or the table locked; connections that break while a statement waits.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import type { Store, Stored } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { describeOn } from '../../support/describe-on.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const record = (id: string, count: number): Stored & { count: number } => ({ id, ns: 'ns', state: 'pending', label: `["${id}"]`, forgetAt: 1000, count });
const raise = (store: Store, id: string) => store.update(id, (now) => ({ next: record(id, ((now as { count?: number } | undefined)?.count ?? 0) + 1), value: 0 }));
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

  /** Breaks what the store is connected by. The server does not notice while its statement waits. */
  const cut = (): void => {
    for (const client of connections) (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    connections.clear();
  };
  /** Somebody else's transaction, in which `sql` was run. */
  const holding = async (sql: string): Promise<() => Promise<unknown>> => {
    const client = await admin.connect();
    await client.query('BEGIN');
    await client.query(sql);
    return () => client.query('ROLLBACK').finally(() => client.release());
  };
  const waiting = async (count: number): Promise<void> => {
    await vi.waitFor(async () => {
      const { rows } = await admin.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid()`);
      expect(rows.length).toBe(count);
    });
  };

  test('a connection that breaks while its statement waits for a row makes no update take effect twice', async () => {
    await raise(store, 'n');
    const release = await holding(`SELECT 1 FROM oncefetch_records WHERE id = 'n' FOR UPDATE`);
    const raised = raise(store, 'n');
    await waiting(1);
    cut();
    // Both copies wait; the first one commits, and the second one sees the row as it was before.
    await waiting(2);
    await release();
    await raised;
    expect(await store.read('n')).toEqual(record('n', 2));
  });

  test('nor where others change the record before the second look: then it says that it can not be told', async () => {
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
    expect(await store.read('m')).toEqual(record('m', 6));
    if (end !== 'resolved') expect(end).toMatchObject({ reason: 'io', message: expect.stringContaining('can not be told') });
  });
});
