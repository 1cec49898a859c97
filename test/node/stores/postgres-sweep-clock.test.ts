/** Goal: a nightly sweep on a machine whose clock is fast removes no record before its time. Method: a real server, a wrong Date. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { describeOn } from '../../support/describe-on.js';
import { made } from '../../support/made.js';
import { aRecord } from '../../support/record.js';

const DAY_MS = 86_400_000;

describeOn(withoutPostgres)('store.sweep()', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ ...server.connection, max: 2 });
    await pool.query(postgresMigration());
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    server.stop();
  });

  test('uses the server’s clock, unless `before` gives a time', async () => {
    const store = postgresStore(pool);
    const now = Date.now();
    const put = (id: string, forgetAt: number) => store.update(id, () => ({ next: aRecord({ id: made(id), state: 'settled', forgetAt }), value: 0 }));
    await put('over', now - DAY_MS);
    await put('kept', now + 20 * DAY_MS);
    const real = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 31 * DAY_MS);
    expect(await store.sweep()).toBe(1);
    vi.restoreAllMocks();
    expect(await store.read('kept')).toBeDefined();
    expect(await store.sweep({ before: now + 21 * DAY_MS })).toBe(1);
    expect(await store.read('kept')).toBeUndefined();
  });
});
