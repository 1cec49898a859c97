/**
 * Goal: the store gives up connections that have gone silent, as behind a load balancer or a NAT that has forgotten them: a call or two fails
 * within its time limit, and then the store works. Method: the real servers and clients with their defaults, and between them a TCP proxy
 * that goes silent on all its connections.
 */
import { connect, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient, createClientPool } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, type RedisServer, startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import type { Store } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { type RedisClient, redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';
import { redisClients } from '../../support/redis-clients.js';
import { put, record } from '../../support/stored.js';

const TIMEOUT_MS = 1000;

interface Proxy {
  readonly port: number;
  /** Stops forwarding on the current connections, and leaves them open. */
  silence(): void;
  /** How often data arrived on a silent connection. */
  readonly swallowed: number;
  close(): void;
}

/** Forwards data, but none of the first `deafTo` connections. */
async function proxy(port: number, deafTo = 0): Promise<Proxy> {
  let swallowed = 0;
  const sockets = new Set<Socket>();
  const all: Socket[] = [];
  const server = createServer((from) => {
    if (all.length < deafTo) {
      all.push(from);
      from.on('data', () => swallowed++);
      return;
    }
    const to = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('data', (data) => (sockets.has(one) ? other.write(data) : swallowed++));
      one.on('error', () => {});
      one.on('close', () => sockets.has(one) && other.destroy());
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.address() as { port: number }).port,
    silence: () => {
      all.push(...sockets);
      sockets.clear();
    },
    get swallowed() {
      return swallowed;
    },
    close: () => {
      server.close();
      for (const socket of [...all, ...sockets]) socket.destroy();
    },
  };
}

/** The ends of updates made one after the other, until one is stored. One that failed only because the machine was busy does not count. */
async function endsUntilStored(store: Store, id: string, between: Proxy): Promise<readonly string[]> {
  const ends: string[] = [];
  while (ends.length < 6 && ends.at(-1) !== 'stored') {
    const { swallowed } = between;
    const end = await put(store, `${id} ${ends.length}`).catch((fault) => fault.reason);
    if (end === 'stored' || between.swallowed > swallowed) ends.push(end);
  }
  return ends;
}

describeOn(withoutRedis)('Redis', () => {
  let server: RedisServer;
  beforeAll(async () => void (server = await startRedis()));
  afterAll(() => server.stop());

  test.each(Object.entries(redisClients))('%s: the store gives up a silent connection, and works again within two calls', async (name, open) => {
    const between = await proxy(server.port);
    const { client, close } = await open(between.port);
    const store = redisStore(client, { prefix: name, timeoutMs: TIMEOUT_MS });
    await expect.poll(() => put(store, 'a').catch(String)).toBe('stored');
    between.silence();
    // Two calls at once, but only one connection to give up.
    const ends = await Promise.all([put(store, 'b'), store.read('a')].map((call) => call.catch((fault) => fault.reason)));
    for (const end of ends) expect(end).toMatch(/timeout|io/);
    const later = await endsUntilStored(store, 'later', between);
    expect(later.at(-1)).toBe('stored');
    expect(later.length).toBeLessThanOrEqual(2);
    expect(await store.read('a')).toEqual(record('a'));
    close();
    between.close();
  });

  test('a pool of node-redis with a silent connection: the next call uses another connection', async () => {
    const between = await proxy(server.port);
    const pool = createClientPool({ url: `redis://127.0.0.1:${between.port}` }, { minimum: 1, maximum: 4 });
    pool.on('error', () => {});
    await pool.connect();
    const store = redisStore(pool as unknown as RedisClient, { prefix: 'pool', timeoutMs: TIMEOUT_MS });
    between.silence();
    expect(await endsUntilStored(store, 'later', between)).toEqual(['timeout', 'stored']);
    pool.destroy();
    between.close();
  });

  test('a client of node-redis that its owner closes meanwhile stays closed', async () => {
    const between = await proxy(server.port);
    const client = createClient({ url: `redis://127.0.0.1:${between.port}` });
    client.on('error', () => {});
    await client.connect();
    const store = redisStore(client, { prefix: 'closed', timeoutMs: TIMEOUT_MS });
    await expect.poll(() => put(store, 'a').catch(String)).toBe('stored');
    between.silence();
    const open = put(store, 'b').catch((fault) => fault.reason);
    await new Promise((asked) => setTimeout(asked, TIMEOUT_MS / 10));
    // `close` waits for the answer to the open command.
    await client.close();
    expect(await open).toMatch(/timeout|io|closed/);
    await new Promise((later) => setTimeout(later, 2 * TIMEOUT_MS));
    expect([client.isOpen, client.isReady]).toEqual([false, false]);
    between.close();
  });

  test('the store keeps the connection to a server that is slow but not silent', async () => {
    const admin = new Redis<'legacy'>(server.port, '127.0.0.1');
    const client = new Redis<'legacy'>(server.port, '127.0.0.1');
    const store = redisStore(client, { prefix: 'slow', timeoutMs: 3 * TIMEOUT_MS });
    await expect.poll(() => put(store, 'a').catch(String)).toBe('stored');
    const id = await client.client('ID');
    await admin.call('CLIENT', 'PAUSE', String(2 * TIMEOUT_MS), 'ALL');
    await Promise.all([put(store, 'b'), store.read('a')]);
    expect(await client.client('ID')).toBe(id);
    for (const one of [admin, client]) one.disconnect();
  });
});

describeOn(withoutPostgres)('PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    const client = new pg.Client(server.connection);
    await client.connect();
    await client.query(postgresMigration());
    await client.end();
  });
  afterAll(() => server.stop());

  test.each([
    { max: 4, prepare: false },
    { max: 1, prepare: true },
  ])('a pool of pg: the store gives up silent connections, and works again after a few calls, %o', async ({ max, prepare }) => {
    const between = await proxy(server.port);
    const pool = new pg.Pool({ ...server.connection, port: between.port, max });
    pool.on('error', () => {});
    const store = postgresStore(pool, { prepare });
    // Concurrent updates share a connection, so the test itself fills the pool.
    const others = await Promise.all(Array.from({ length: max }, () => pool.connect()));
    for (const other of others) other.release();
    await put(store, `a-${max}`);
    expect(pool.totalCount).toBe(max);
    between.silence();
    const ends = await endsUntilStored(store, `pool of ${max}`, between);
    expect(ends.at(-1)).toBe('stored');
    // Each failed call gives up two connections.
    expect(ends.length).toBeLessThanOrEqual(1 + Math.floor(max / 2));
    await pool.end();
    between.close();
  });

  test('a pool of pg whose first connection never opens: the next call uses another connection', async () => {
    const between = await proxy(server.port, 1);
    const pool = new pg.Pool({ ...server.connection, port: between.port });
    pool.on('error', () => {});
    const store = postgresStore(pool, { timeoutMs: TIMEOUT_MS });
    expect(await endsUntilStored(store, 'first', between)).toEqual(['timeout', 'stored']);
    between.close();
    await pool.end();
  });
});
