/**
 * Goal: the store does not believe the reads of a server that takes no writes. A replica may lag behind, and a demoted master misses what its
 * successor has, so a record that is absent there may belong to a payment that was made. Method: real servers that are replicas from the start
 * or are demoted in the middle, and answer so late that the store's first guess of the time is wrong; a shop that counts requests.
 */
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort, type PostgresServer, type RedisServer, startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import { createOnce, outcomeOf } from '../../../src/entries/index.js';
import type { Store } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';
import { type Connected, redisClients } from '../../support/redis-clients.js';
import { ignore, put, record } from '../../support/stored.js';

/** Each call has its own record: a call that waits for another update of the same record may time out before it hears anything from the server. */
const everyLook = (store: Store): (() => Promise<unknown>)[] => [
  () => store.read('x'),
  () => store.update('x', (current) => ({ value: current })),
  () => put(store, record('y')),
  () => store.update('z', () => ({ next: null, value: 0 })),
  () => store.scan({ ns: 'ns', state: 'pending', limit: 1 }),
  () => store.scan({ before: 2000, limit: 1 }),
];

/** Every call is refused with reason `blocked`. A call that runs out of time while it asks again reports the server's last answer. */
function expectRefused(ends: readonly PromiseSettledResult<unknown>[]): void {
  const reasons = ends.map((end) => (end as { reason?: { reason?: string } }).reason?.reason);
  expect(reasons).toEqual(ends.map(() => 'blocked'));
}

/** Makes a payment over this store. Resolves to how it ended, and whether anything was sent. */
async function pay(store: Store, durability: 'best-effort' | 'required') {
  let sent = 0;
  const fetch = async () => {
    sent++;
    return new Response('{}', { status: 201 });
  };
  const once = createOnce({ namespace: 'shop', store, fetch: fetch as typeof globalThis.fetch, durability });
  const end = await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 'c1'] }).catch((error: unknown) => error);
  return { sent, code: (end as { code?: string }).code, effect: outcomeOf(end)?.effect };
}
const NOT_SENT = { sent: 0, code: 'ERR_ONCE_STORE', effect: 'unknown' };

describeOn(withoutRedis)('Redis', () => {
  describe.each(Object.entries(redisClients))('%s', (name, connected) => {
    let server: RedisServer;
    let admin: Redis;
    const open: Connected[] = [];
    let prefixes = 0;
    const storeOn = async (options: object = {}): Promise<Store> => {
      const one = await connected(server.port);
      open.push(one);
      return redisStore(one.client, { prefix: `p${prefixes++}-${name}`, timeoutMs: 2500, ...options });
    };
    /** Makes the server a replica that lags behind forever, because its master does not exist. */
    const demote = async (): Promise<unknown> => admin.replicaof('127.0.0.1', await freePort());
    /** Delays the answers to all commands, so that the time sent with each command is wrong by then. */
    const late = (): Promise<unknown> => admin.call('CLIENT', 'PAUSE', '1300', 'ALL');

    beforeAll(async () => {
      server = await startRedis();
      admin = new Redis<'legacy'>(server.port, '127.0.0.1');
      admin.on('error', ignore);
    });
    afterAll(async () => {
      for (const { close } of open) close();
      admin.disconnect();
      await server.stop();
    });

    test('a replica refuses every read and every write', async () => {
      const store = await storeOn();
      for (const id of ['x', 'y', 'z']) await put(store, record(id));
      await demote();
      const ends = await Promise.allSettled(everyLook(store).map((call) => call()));
      await admin.replicaof('NO', 'ONE');
      expectRefused(ends);
    });

    test.each(['best-effort', 'required'] as const)('no payment begins on a replica that answers late, durability %s', async (durability) => {
      const store = await storeOn();
      await demote();
      await late();
      const end = await pay(store, durability);
      await admin.replicaof('NO', 'ONE');
      expect(end).toEqual(NOT_SENT);
    });

    test('no payment begins on a master that is demoted between two looks at its record', async () => {
      const one = await connected(server.port);
      open.push(one);
      let looks = 0;
      const client = new Proxy(one.client, {
        get(target, method) {
          const value = Reflect.get(target, method);
          if (typeof value !== 'function' || !/^evalsha$/i.test(String(method))) return value;
          return async (...args: unknown[]) => {
            // The first look is a guess. Before the second one, the server has said that the record is absent; its write then comes too late.
            if (looks === 2) await demote();
            return value.apply(target, args);
          };
        },
      });
      const store = redisStore(client, { prefix: `demoted-${name}`, timeoutMs: 2500 });
      const update: Store['update'] = (id, change, options) =>
        store.update(
          id,
          (current, now) => {
            looks++;
            return change(current, now);
          },
          options,
        );
      await late();
      const end = await pay({ ...store, update }, 'best-effort');
      await admin.replicaof('NO', 'ONE');
      expect([end, looks > 2]).toEqual([NOT_SENT, true]);
    });

    test('a master with too few replicas to take writes refuses every read and every write as well', async () => {
      const store = await storeOn();
      await admin.config('SET', 'min-replicas-to-write', '1');
      const ends = await Promise.allSettled(everyLook(store).map((call) => call()));
      const end = await pay(await storeOn(), 'best-effort');
      await admin.config('SET', 'min-replicas-to-write', '0');
      expectRefused(ends);
      expect(end).toEqual(NOT_SENT);
    });

    test('no payment begins on a replica that answers nothing without its master', async () => {
      const store = await storeOn();
      await admin.config('SET', 'replica-serve-stale-data', 'no');
      await demote();
      const end = await pay(store, 'best-effort');
      await admin.replicaof('NO', 'ONE');
      expect(end).toEqual(NOT_SENT);
    });

    test('no payment begins on a replica that takes writes', async () => {
      await admin.config('SET', 'replica-read-only', 'no');
      await admin.config('SET', 'replica-serve-stale-data', 'yes');
      await demote();
      const end = await pay(await storeOn(), 'best-effort');
      await admin.replicaof('NO', 'ONE');
      await admin.config('SET', 'replica-read-only', 'yes');
      expect(end).toEqual(NOT_SENT);
    });

    test('a server that becomes the master while a payment waits is used', async () => {
      const store = await storeOn();
      await demote();
      const paid = pay(store, 'required');
      await new Promise((done) => setTimeout(done, 300));
      await admin.replicaof('NO', 'ONE');
      expect(await paid).toMatchObject({ sent: 1, effect: 'done' });
    });
  });
});

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ ...server.connection, max: 2 });
    pool.on('error', ignore);
    await pool.query(postgresMigration());
    server.demote();
    // The demotion has broken the pool's connections; the pool notices when it uses them.
    await vi.waitFor(() => Promise.all([pool.query('SELECT 1'), pool.query('SELECT 1')]), { timeout: 20_000 });
  });
  afterAll(async () => {
    await pool.end();
    server.stop();
  });

  test.each([false, true])('a hot standby refuses every read and every write; prepared: %s', async (prepare) => {
    const store = postgresStore(pool, { prepare });
    // PostgreSQL itself says: invalid input syntax for type boolean, or: cannot execute SELECT.
    const message = expect.stringMatching(
      /^once: postgres:\S+ failed: a record may be missing on a read-only server, such as a standby: connect to the primary$/,
    );
    for (const call of everyLook(store)) await expect(call()).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied', message });
    await expect(store.sweep()).rejects.toMatchObject({ reason: 'denied' });
  });

  test.each(['best-effort', 'required'] as const)('no payment begins on a hot standby, durability %s', async (durability) => {
    expect(await pay(postgresStore(pool), durability)).toEqual(NOT_SENT);
  });

  test('a hot standby also refuses an update that changes nothing, and the change is called once more with the state unknown', async () => {
    const store = postgresStore(pool);
    // The first call sees a guess and changes nothing, so the store asks the server whether the guess is right.
    const seen: unknown[] = [];
    const change = (current: unknown) => {
      seen.push(current);
      return seen.length === 1 ? { value: 0 } : { next: record('y'), value: 0 };
    };
    await expect(store.update('y', change)).rejects.toMatchObject({ reason: 'denied' });
    expect(seen.at(-1)).toEqual(expect.any(String));
  });
});
