/**
 * Goal: what a server says that takes no writes is no look: a replica may lag behind, and a demoted master misses what its
 * successor has, so "absent" there may be a payment that was made. Method: real servers that are replicas from the start or are
 * demoted in the middle, and answer so late that the first guess of the time is wrong; a shop that counts what is sent.
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

/** Each at a record of its own: whoever waits for an update from here of the same record may wait until its own time is over, and has heard nothing. */
const everyLook = (store: Store): (() => Promise<unknown>)[] => [
  () => store.read('x'),
  () => store.update('x', (current) => ({ value: current })),
  () => put(store, record('y')),
  () => store.update('z', () => ({ next: null, value: 0 })),
  () => store.scan({ ns: 'ns', state: 'pending', limit: 1 }),
  () => store.scan({ before: 2000, limit: 1 }),
];

/** Refused, and told why: whoever asks once more when the time is over tells what was said last. */
function expectRefused(ends: readonly PromiseSettledResult<unknown>[]): void {
  const reasons = ends.map((end) => (end as { reason?: { reason?: string } }).reason?.reason);
  expect(reasons).toEqual(ends.map(() => 'blocked'));
}

/** A payment over this store: how it ended, and whether anything was sent. */
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
    /** As a replica that lags behind for ever: its master is gone. */
    const demote = async (): Promise<unknown> => admin.replicaof('127.0.0.1', await freePort());
    /** All that comes meanwhile is answered late, and the time that it was sent with is wrong by then. */
    const late = (): Promise<unknown> => admin.call('CLIENT', 'PAUSE', '1300', 'ALL');

    beforeAll(async () => {
      server = await startRedis();
      admin = new Redis(server.port, '127.0.0.1');
      admin.on('error', ignore);
    });
    afterAll(async () => {
      for (const { close } of open) close();
      admin.disconnect();
      await server.stop();
    });

    test('every look at a replica is refused, and so is every write', async () => {
      const store = await storeOn();
      for (const id of ['x', 'y', 'z']) await put(store, record(id));
      await demote();
      const ends = await Promise.allSettled(everyLook(store).map((call) => call()));
      await admin.replicaof('NO', 'ONE');
      expectRefused(ends);
    });

    test.each(['best-effort', 'required'] as const)('a replica that answers late makes no payment begin, durability %s', async (durability) => {
      const store = await storeOn();
      await demote();
      await late();
      const end = await pay(store, durability);
      await admin.replicaof('NO', 'ONE');
      expect(end).toEqual(NOT_SENT);
    });

    test('a master that is demoted between two looks of one payment makes none begin', async () => {
      const one = await connected(server.port);
      open.push(one);
      let looks = 0;
      const client = new Proxy(one.client, {
        get(target, method) {
          const value = Reflect.get(target, method);
          if (typeof value !== 'function' || !/^evalsha$/i.test(String(method))) return value;
          return async (...args: unknown[]) => {
            // The first look is a guess. By the second one it was heard that nothing is there, and its write comes too late.
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

    test('a master that has too few replicas to write is not believed either', async () => {
      const store = await storeOn();
      await admin.config('SET', 'min-replicas-to-write', '1');
      const ends = await Promise.allSettled(everyLook(store).map((call) => call()));
      const end = await pay(await storeOn(), 'best-effort');
      await admin.config('SET', 'min-replicas-to-write', '0');
      expectRefused(ends);
      expect(end).toEqual(NOT_SENT);
    });

    test('a replica that answers nothing without its master is waited for, and then refused', async () => {
      const store = await storeOn();
      await admin.config('SET', 'replica-serve-stale-data', 'no');
      await demote();
      const end = await pay(store, 'best-effort');
      await admin.replicaof('NO', 'ONE');
      expect(end).toEqual(NOT_SENT);
    });

    test('a replica that takes writes of its own is refused at the first payment', async () => {
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
    // Connections of before are broken, which the pool learns by using them.
    await vi.waitFor(() => Promise.all([pool.query('SELECT 1'), pool.query('SELECT 1')]), { timeout: 20_000 });
  });
  afterAll(async () => {
    await pool.end();
    server.stop();
  });

  test.each([false, true])('every look at a hot standby is refused, and so is every write; prepared: %s', async (prepare) => {
    const store = postgresStore(pool, { prepare });
    for (const call of everyLook(store)) await expect(call()).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied' });
    await expect(store.sweep()).rejects.toMatchObject({ reason: 'denied' });
  });

  test.each(['best-effort', 'required'] as const)('a hot standby makes no payment begin, durability %s', async (durability) => {
    expect(await pay(postgresStore(pool), durability)).toEqual(NOT_SENT);
  });

  test('nor where the write was preceded by a look', async () => {
    const store = postgresStore(pool);
    // What is cached is wrong, so the server is asked first what is there.
    const seen: unknown[] = [];
    const change = (current: unknown) => {
      seen.push(current);
      return seen.length === 1 ? { value: 0 } : { next: record('y'), value: 0 };
    };
    await expect(store.update('y', change)).rejects.toMatchObject({ reason: 'denied' });
    expect(seen.at(-1)).toEqual(expect.any(String));
  });
});
