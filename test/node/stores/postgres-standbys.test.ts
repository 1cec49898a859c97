/**
 * Goal: a strict update that standbys are to have is not told as stored before they have it. Method: a real server that waits for a standby
 * which is not there, and whose connection ends meanwhile: what it was at is committed all the same, and can be seen.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { describeOn } from '../../support/describe-on.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describeOn(withoutPostgres)('a synchronous standby that is away', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool(server.connection);
    pool.on('error', () => {});
    await pool.query(postgresMigration());
    await pool.query("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    await pool.query('SELECT pg_reload_conf()');
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  test('a strict update whose connection ends while it waits is committed, found again, and not told as stored', async () => {
    const store = postgresStore(pool);
    const next = { id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000 } as const;
    const update = store.update('a', () => ({ next, value: 'stored' })).catch((fault) => fault.reason);
    const ended = async () => (await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).rowCount;
    await vi.waitFor(async () => expect(await ended()).toBe(1), { timeout: 4000 });
    expect(await update).toMatch(/timeout|blocked|io/);
    expect(await store.read('a')).toEqual(next);
  });
});
