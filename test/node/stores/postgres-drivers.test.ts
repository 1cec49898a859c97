/**
 * Goal: a record that is reported as stored is stored, whatever a driver or the owner of a connection does with that
 * connection or with parameters. Method: a real server; a client of `pg` on which its owner has a transaction open; a
 * client that converts parameters by the types in the statement, as postgres.js does.
 */
import { EventEmitter } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres, withoutPostgres } from '../../../scripts/start-services.ts';
import { createOnce, outcomeOf } from '../../../src/entries/index.js';
import type { Stored } from '../../../src/ports.js';
import { type PostgresClient, postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { describeOn } from '../../support/describe-on.js';
import { made } from '../../support/made.js';
import { aRecord } from '../../support/record.js';

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let client: pg.Client;
  let tables = 0;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ ...server.connection, max: 2 });
    client = new pg.Client(server.connection);
    await client.connect();
  });
  afterAll(async () => {
    await Promise.all([client.end(), pool.end()]);
    server.stop();
  });
  const newTable = async (): Promise<string> => {
    const table = `t${tables++}`;
    await pool.query(postgresMigration({ table }));
    return table;
  };

  test('a payment on a client whose owner has a transaction open is not sent: its record could be rolled back', async () => {
    const keys: (string | null)[] = [];
    const once = createOnce({
      namespace: 'billing',
      store: postgresStore(client, { table: await newTable(), timeoutMs: 1500 }),
      limits: { attempts: 1 },
      fetch: async (_, init) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'));
        throw new TypeError('the answer is lost');
      },
    });
    const pay = () => once.fetch('https://bank.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error);
    await client.query('BEGIN');
    expect(await pay()).toMatchObject({ code: 'ERR_ONCE_STORE', cause: { reason: 'blocked', message: expect.stringMatching(/middle of a transaction/) } });
    await client.query('ROLLBACK');
    expect(keys).toEqual([]);
    for (let press = 0; press < 2; press++) expect(outcomeOf(await pay())?.effect).toBe('unknown');
    expect(keys).toEqual([expect.any(String), keys[0]]);
  });

  test('if a pool got a connection back in the middle of a transaction, the record of a payment is not rolled back with that transaction', async () => {
    const keys: (string | null)[] = [];
    const once = createOnce({
      namespace: 'billing',
      store: postgresStore(pool, { table: await newTable() }),
      limits: { attempts: 1 },
      fetch: async (_, init) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'));
        throw new TypeError('the answer is lost');
      },
    });
    const pay = () => once.fetch('https://bank.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error);
    const forgetful = await pool.connect();
    await forgetful.query('BEGIN');
    forgetful.release();
    expect(outcomeOf(await pay())?.effect).toBe('unknown');
    await forgetful.query('ROLLBACK');
    expect(outcomeOf(await pay())?.effect).toBe('unknown');
    expect(keys).toEqual([expect.any(String), keys[0]]);
  });

  test.each(['awaited', 'not awaited'])(
    'a pool of one connection, which is in a transaction, its BEGIN %s: nothing is reported as stored until the transaction has ended',
    async (how) => {
      const one = new pg.Pool({ ...server.connection, max: 1 });
      const table = await newTable();
      const store = postgresStore(one, { table, timeoutMs: 1500 });
      const next: Stored = { id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000 };
      await store.read('warm');
      const forgetful = await one.connect();
      const begun = forgetful.query('BEGIN');
      if (how === 'awaited') await begun;
      forgetful.release();
      const stored = store.update('a', () => ({ next, value: 'stored' }));
      await expect(stored).rejects.toMatchObject({ reason: 'blocked', message: expect.stringMatching(/middle of a transaction/) });
      await forgetful.query('ROLLBACK');
      expect(await store.update('a', () => ({ next, value: 'stored' }))).toBe('stored');
      expect(await postgresStore(pool, { table }).read('a')).toEqual(next);
      await one.end();
    },
  );

  test('a connection that breaks at the moment it is made does not crash the process', async () => {
    const client = Object.assign(new EventEmitter(), { query: () => Promise.reject(new Error('terminated')), release: () => {} });
    const broken = {
      totalCount: 1,
      idleCount: 0,
      options: { max: 1 },
      query: () => Promise.reject(new Error('not by this way')),
      connect: (got: (error: undefined, connection: object) => void) => {
        got(undefined, client);
        // Without a listener, this throws where nobody can catch it.
        client.emit('error', new Error('terminated'));
      },
    };
    await expect(postgresStore(broken, { timeoutMs: 300 }).read('a')).rejects.toMatchObject({ reason: 'io', message: expect.stringMatching(/terminated/) });
    expect(client.listenerCount('error')).toBe(0);
  });

  test.each(['best-effort', 'required'] as const)('a payment whose record is hidden by row-level security sends nothing, durability %s', async (durability) => {
    const table = await newTable();
    await pool.query(`ALTER TABLE "${table}" ADD COLUMN tenant text DEFAULT current_setting('app.tenant', true);
      ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
      CREATE POLICY own ON "${table}" USING (tenant = current_setting('app.tenant', true)) WITH CHECK (true);
      CREATE ROLE "app ${table}" LOGIN; GRANT ALL ON "${table}" TO "app ${table}"`);
    const own = new pg.Pool({ ...server.connection, user: `app ${table}`, max: 1 });
    const keys: (string | null)[] = [];
    const pay = (timeoutMs: number) => {
      const fetch = async (_: unknown, init?: RequestInit) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'));
        throw new TypeError('the answer is lost');
      };
      const once = createOnce({ namespace: 'billing', durability, store: postgresStore(own, { table, timeoutMs }), limits: { attempts: 1 }, fetch });
      return once.fetch('https://bank.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error);
    };
    // The store looks for the hidden record of `b` until its time limit, so that limit is short; the limit for `a` suits a
    // busy machine.
    for (const [tenant, code, timeoutMs] of [
      ['a', 'ERR_ONCE_UNKNOWN', 8000],
      ['b', 'ERR_ONCE_STORE', 500],
    ] as const) {
      await own.query(`SET app.tenant = '${tenant}'`);
      const told = await pay(timeoutMs);
      expect(told).toMatchObject({ code });
      expect(outcomeOf(told)?.effect).toBe('unknown');
    }
    expect(keys).toHaveLength(1);
    await own.end();
  });

  test.each(['ROLLBACK', 'COMMIT'])(
    'an update that gets into a transaction which begins at that moment is stored when it is reported as stored: %s',
    async (end) => {
      const table = await newTable();
      const store = postgresStore(client, { table });
      await store.read('warm');
      const begun = client.query('BEGIN');
      const next: Stored = { id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000 };
      const stored = store.update('a', () => ({ next, value: 'stored' }));
      await begun;
      await client.query(end);
      expect(await stored).toBe('stored');
      expect(await postgresStore(pool, { table }).read('a')).toEqual(next);
    },
  );

  test('with a driver that turns json parameters into JSON itself, many updates share a statement, and a sweep removes records', async () => {
    const table = await newTable();
    const asked: string[] = [];
    const driver: PostgresClient = {
      query(text, values = []) {
        asked.push(text);
        return pool.query(
          text,
          values.map((value, n) => (new RegExp(`\\$${n + 1}::json\\b`).test(text) ? JSON.stringify(value) : value)),
        );
      },
    };
    const store = postgresStore(driver, { table });
    await store.read('warm');
    asked.length = 0;
    const over = Array.from({ length: 64 }, (_, n) => aRecord({ id: made(`r${n}`), state: 'settled', forgetAt: 1000 }));
    await Promise.all(over.map((next) => store.update(next.id, () => ({ next, value: 'stored' }))));
    expect(asked).toHaveLength(1);
    expect(await store.sweep()).toBe(64);
  });
});
