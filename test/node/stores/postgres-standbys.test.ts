/**
 * Goal: a strict update that must reach a synchronous standby is not reported as stored before the standby has it.
 * Method: a real server that waits for a standby which does not exist. The connection ends during the wait: the server
 * has committed the update anyway, and others see it.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import { createOnce, outcomeOf, pending, resume } from '../../../src/entries/node.js';
import type { Store } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { describeOn } from '../../support/describe-on.js';

describeOn(withoutPostgres)('a synchronous standby that is away', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool(server.connection);
    pool.on('error', () => {});
    await pool.query(postgresMigration());
    await pool.query('CREATE TABLE waits (n int)');
    await pool.query("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    await pool.query('SELECT pg_reload_conf()');
    // The server's processes have read the setting only when a commit waits.
    while (!(await commitWaits()));
  });
  const commitWaits = async (): Promise<boolean> => {
    let ended = false;
    const commit = pool.query('INSERT INTO waits VALUES (1)').finally(() => void (ended = true));
    while (!ended) {
      const { rowCount } = await pool.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      if (rowCount) return commit.then(() => true);
    }
    return false;
  };
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  const next = { id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000 } as const;
  /** Makes a strict update, calls `act` on the server process that waits for the standby, and resolves to the end of the update. */
  const whileItWaits = async (store: Store, id: string, act: 'pg_terminate_backend' | 'pg_cancel_backend'): Promise<unknown> => {
    const update = store.update(id, () => ({ next: { ...next, id }, value: 'stored' })).catch((fault) => fault.reason);
    const met = async () => (await pool.query(`SELECT ${act}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).rowCount;
    await expect.poll(met).toBe(1);
    return update;
  };

  test('a strict update whose wait an operator cancels is reported as stored, as docs/stores.md says', async () => {
    expect(await whileItWaits(postgresStore(pool), 'cancelled', 'pg_cancel_backend')).toBe('stored');
  });

  test('a strict update whose connection ends during the wait is committed and can be read, but is not reported as stored', async () => {
    const store = postgresStore(pool);
    expect(await whileItWaits(store, 'a', 'pg_terminate_backend')).toMatch(/timeout|blocked|io/);
    expect(await store.read('a')).toEqual(next);
  });

  test('a payment whose record waits for the standby is unknown rather than none: the record appears later, and resume sends it', async () => {
    let sent = 0;
    const fetch = async () => {
      sent++;
      return new Response('{}', { status: 201 });
    };
    // This machine's clock is wrong, so the store reads the record before it writes.
    const ahead = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 60_000);
    const store = postgresStore(pool, { timeoutMs: 1500 });
    const once = createOnce({ namespace: 'shop', store, durability: 'required', keep: { request: true }, fetch: fetch as typeof globalThis.fetch });
    const end = await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 'c1'] }).catch((error: unknown) => error);
    ahead.mockRestore();
    await pool.query('ALTER SYSTEM RESET synchronous_standby_names');
    await pool.query('SELECT pg_reload_conf()');
    // The server waits for no standby any more, so the record appears.
    await expect.poll(() => pending(once)).toHaveLength(1);
    const before = sent;
    for await (const _ of resume(once));
    expect([outcomeOf(end)?.effect, before, sent]).toEqual(['unknown', 0, 1]);
  });
});
