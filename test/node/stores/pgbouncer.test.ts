/**
 * Goal: through PgBouncer in transaction mode, where each statement may go over another connection of the server, the store keeps its contract
 * and leaves no setting behind, and a restart makes no update take effect twice. Method: the real PgBouncer in front of a real PostgreSQL.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPgBouncer, startPostgres, withoutPgBouncer } from '../../../scripts/start-services.ts';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { storeContract } from '../../../src/testing/store-contract.js';
import { counts } from '../../support/counts.js';
import { describeOn } from '../../support/describe-on.js';
import { countOf, raise } from '../../support/stored.js';

const ids = Array.from({ length: 64 }, (_, n) => `r${n}`);

describeOn(withoutPgBouncer)('PgBouncer in transaction mode', () => {
  let server: PostgresServer;
  let bouncer: Awaited<ReturnType<typeof startPgBouncer>>;
  let pool: pg.Pool;
  let tables = 0;
  const made = new Map<string, string>();
  const tableOf = async (medium = `own ${tables}`): Promise<string> => {
    const table = made.get(medium) ?? `t${tables++}`;
    made.set(medium, table);
    await pool.query(postgresMigration({ table }));
    return table;
  };
  beforeAll(async () => {
    server = await startPostgres();
    bouncer = await startPgBouncer(server);
    pool = new pg.Pool({ ...bouncer.connection, max: 8 });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool.end();
    await bouncer.stop();
    server.stop();
  });

  storeContract({ name: 'through PgBouncer', test, open: async (medium) => postgresStore(pool, { table: await tableOf(medium) }) });
  storeContract({
    name: 'through PgBouncer, prepare: true',
    test,
    open: async (medium) => postgresStore(pool, { table: await tableOf(medium), prepare: true }),
  });

  test.each([false, true])('two stores that raise the same records at once lose no update; prepare: %o', async (prepare) => {
    const table = await tableOf();
    const other = new pg.Pool({ ...bouncer.connection, max: 8 });
    const stores = [postgresStore(pool, { table, prepare }), postgresStore(other, { table, prepare })];
    for (let n = 0; n < 5; n++) await Promise.all(stores.flatMap((store) => ids.map((id) => raise(store, id, n % 2 ? 'strict' : 'relaxed'))));
    expect(await Promise.all(ids.map(async (id) => countOf(await stores[0]?.read(id))))).toEqual(ids.map(() => 10));
    await other.end();
  });

  test('an update leaves no setting on a connection that others get', async () => {
    const store = postgresStore(pool, { table: await tableOf() });
    await Promise.all(ids.map((id, n) => raise(store, id, n % 2 ? 'strict' : 'relaxed')));
    for (let n = 0; n < 4; n++) {
      const { rows } = await pool.query(`SELECT current_setting('synchronous_commit') AS level, current_setting('lock_timeout') AS patience`);
      expect(rows).toEqual([{ level: 'on', patience: '0' }]);
    }
    expect((await pool.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`)).rows).toEqual([]);
  });

  test('prepared statements get lost; the store notices, and goes on without them', async () => {
    const table = await tableOf();
    const asked: (string | undefined)[] = [];
    const refused: string[] = [];
    const client = {
      totalCount: 0,
      query: async (query: { name?: string }) => {
        asked.push(query.name);
        return pool.query(query as pg.QueryConfig).catch((error) => {
          refused.push(error.code);
          throw error;
        });
      },
    };
    const store = postgresStore(client as never, { table, prepare: true });
    for (let n = 0; n < 20; n++) await Promise.all(ids.slice(0, 8).map((id) => store.read(id)));
    expect(refused.length).toBeGreaterThan(0);
    for (const code of refused) expect(code).toMatch(/26000|42P05/);
    expect(asked.at(0)).toMatch(/^oncefetch_/);
    expect(asked.at(-1)).toBeUndefined();
  });

  test('PgBouncer restarts in the middle of calls: no update is lost or takes effect twice', async () => {
    await counts(postgresStore(pool, { table: await tableOf() }), bouncer.restart);
  });

  test('the server behind it restarts in the middle of calls: no update is lost or takes effect twice', async () => {
    await counts(postgresStore(pool, { table: await tableOf() }), server.restart);
  });
});
