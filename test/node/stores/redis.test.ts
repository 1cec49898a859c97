/**
 * Goal: Redis keeps the store contract through node-redis and ioredis, on one server and on a cluster, usually in one round
 * trip per update. Method: real servers; clients that count the scripts that they run.
 */
import { Cluster, Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis, startRedisCluster, withoutRedis } from '../../../scripts/start-services.ts';
import type { Store, Stored } from '../../../src/ports.js';
import { type RedisClient, redisStore } from '../../../src/stores/redis/redis.js';
import { ordered } from '../../../src/stores/text.js';
import { storeContract } from '../../../src/testing/store-contract.js';
import { describeOn } from '../../support/describe-on.js';
import { type NodeRedisCluster, nodeRedisCluster } from '../../support/redis-clients.js';
import { ignore, put, record } from '../../support/stored.js';

describeOn(withoutRedis)('on one server', () => {
  let server: RedisServer;
  let nodeRedis = createClient();
  let ioRedis: Redis;
  /** Calls through either client so far. */
  let calls = 0;
  const counted = <C extends object>(client: C): C =>
    new Proxy(client, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (/^eval/i.test(String(name))) calls++;
          return value.apply(target, args);
        };
      },
    });

  beforeAll(async () => {
    server = await startRedis();
    nodeRedis = createClient({ socket: { host: '127.0.0.1', port: server.port } });
    nodeRedis.on('error', ignore);
    await nodeRedis.connect();
    ioRedis = new Redis<'legacy'>(server.port, '127.0.0.1');
    ioRedis.on('error', ignore);
  });
  afterAll(async () => {
    nodeRedis.destroy();
    ioRedis.disconnect();
    await server.stop();
  });

  const clients: readonly (readonly [string, () => RedisClient])[] = [
    ['node-redis', () => counted(nodeRedis)],
    ['ioredis', () => counted(ioRedis)],
  ];

  for (const [name, client] of clients) {
    const report = storeContract({
      name,
      test,
      open: (medium) => redisStore(client(), { prefix: `${name}-${medium}` }),
      plant: async (medium, id, value) => {
        const base = `{${name}-${medium}}`;
        // The index leads to the damaged record, so scans meet it.
        const place = ['ns', 'pending', ordered(`["pay","${id}"]`), ordered(id)].join('\t');
        await ioRedis.set(`${base}:r:${ordered(id)}`, typeof value === 'string' ? value : JSON.stringify(value));
        await ioRedis.zadd(`${base}:places`, 0, place);
        await ioRedis.zadd(`${base}:times`, 1000, place);
      },
      work: () => calls,
    });
    afterAll(() => expect(report.left).toEqual([]));
  }

  describe.each(clients)('%s', (name, client) => {
    let prefixes = 0;
    const open = (options: object = {}): Store => redisStore(client(), { prefix: `own-${name}-${prefixes++}`, ...options });
    const roundTrips = async (work: () => Promise<unknown>): Promise<number> => {
      const before = calls;
      await work();
      return calls - before;
    };

    test('beginning, settling, looking at and removing a record take one round trip each', async () => {
      const store = open();
      await put(store, record('first'));
      expect(await roundTrips(() => put(store, record('a')))).toBe(1);
      expect(await roundTrips(() => put(store, record('a', { state: 'settled' }), 'relaxed'))).toBe(1);
      expect(await roundTrips(() => store.update('a', () => ({ value: 1 })))).toBe(1);
      expect(await roundTrips(() => store.update('a', () => ({ next: null, value: 1 })))).toBe(1);
      expect(await roundTrips(() => store.update('a', (current) => ({ value: current })))).toBe(1);
      expect(await store.read('a')).toBeUndefined();
    });

    test('a record that another store changed takes two round trips to change, and one to look at', async () => {
      const prefix = `two-${name}`;
      const [a, b, c] = [1, 2, 3].map(() => redisStore(client(), { prefix })) as [Store, Store, Store];
      await put(a, record('x', { count: 1 }));
      await Promise.all([put(b, record('first')), put(c, record('second'))]);
      const seen: unknown[] = [];
      const look = () => b.update('x', (current) => ({ value: seen.push(current) }));
      expect(await roundTrips(look)).toBe(1);
      expect(seen).toEqual([undefined, record('x', { count: 1 })]);
      expect(await roundTrips(() => put(c, record('x', { count: 2 })))).toBe(2);
      expect(await roundTrips(look)).toBe(1);
      expect(seen.at(-1)).toEqual(record('x', { count: 2 }));
    });

    test('A54: a change that throws at a wrong guess is called again with the stored record', async () => {
      const prefix = `throws-${name}`;
      const [a, b] = [redisStore(client(), { prefix }), redisStore(client(), { prefix })];
      await put(a, record('x', { count: 1 }));
      const count = (current: unknown) => ({ value: (current as { count: number }).count });
      expect(await b.update('x', count)).toBe(1);
      await expect(b.update('y', count)).rejects.toThrow(TypeError);
    });

    test('A32: an update gets the server’s time, however wrong the clock of this machine is', async () => {
      const real = Date.now;
      const spy = vi.spyOn(Date, 'now').mockImplementation(() => real() + 86_400_000);
      const store = open();
      const begun = real();
      const now = await store.update('a', (_, at) => ({ next: record('a'), value: at }));
      spy.mockRestore();
      expect(Math.abs(now - begun)).toBeLessThan(1000 + Date.now() - begun);
    });

    test('A32: on a machine that slept, an update gets the right time before it commits', async () => {
      const store = open();
      await put(store, record('a'));
      // The monotonic clock of such a machine stood still during the sleep.
      const real = performance.now.bind(performance);
      const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() - 60_000);
      const times: number[] = [];
      const begun = Date.now();
      await store.update('a', (_, now) => ({ next: record('a', { at: times.push(now) }), value: 0 }));
      spy.mockRestore();
      expect(times).toHaveLength(2);
      expect(times[0]).toBeLessThan(Date.now() - 50_000);
      expect(Math.abs((times[1] ?? 0) - begun)).toBeLessThan(1000 + Date.now() - begun);
    });

    test('A34: Redis keys expire a week after a sweep may remove the record, and those of pending records after 37 days at the earliest', async () => {
      const [prefix, day] = [`expiry-${name}`, 86_400_000];
      const store = redisStore(client(), { prefix });
      const left = async (id: string) => Math.round((await ioRedis.pttl(`{${prefix}}:r:${id}`)) / day);
      await put(store, record('pending', { forgetAt: Date.now() + day }));
      await put(store, record('settled', { state: 'settled', forgetAt: Date.now() + 60 * day }));
      await put(store, record('over', { state: 'settled', forgetAt: 0 }));
      await put(store, record('ever', { forgetAt: Number.POSITIVE_INFINITY }));
      expect([await left('pending'), await left('settled'), await left('over')]).toEqual([37, 67, 7]);
      expect(await ioRedis.pttl(`{${prefix}}:r:ever`)).toBe(-1);
      await put(store, record('ever', { forgetAt: 0 }));
      await put(store, record('over', { state: 'settled', forgetAt: Number.POSITIVE_INFINITY }));
      expect([await left('ever'), await ioRedis.pttl(`{${prefix}}:r:over`)]).toEqual([37, -1]);
    });

    test('a record whose Redis key has expired is in no page, and its index entries are removed', async () => {
      const prefix = `expired-${name}`;
      const store = redisStore(client(), { prefix });
      for (const id of ['a', 'b', 'c']) await put(store, record(id));
      await ioRedis.pexpire(`{${prefix}}:r:b`, 1);
      await new Promise((done) => setTimeout(done, 10));
      const ids = ({ records }: { records: readonly unknown[] }) => records.map((one) => (one as Stored).id);
      expect(ids(await store.scan({ ns: 'ns', state: 'pending', limit: 9 }))).toEqual(['a', 'c']);
      expect(await ioRedis.zcard(`{${prefix}}:times`)).toBe(2);
      expect(await ioRedis.zcard(`{${prefix}}:places`)).toBe(2);
      expect(ids(await store.scan({ before: 2000, limit: 9 }))).toEqual(['a', 'c']);
    });

    test('a record that is made again after its Redis key expired: the index entries of the expired one hide no other due record, and are removed', async () => {
      const prefix = `again-${name}`;
      const store = redisStore(client(), { prefix });
      for (let n = 0; n < 12; n++) {
        await put(store, record(`again${n}`, { state: 'settled', forgetAt: 1 }));
        await ioRedis.del(`{${prefix}}:r:again${n}`);
        await put(store, record(`again${n}`, { forgetAt: 9000 }));
      }
      await put(store, record('due'));
      for (let scans = 0; scans < 4; scans++) await store.scan({ before: 2000, limit: 1 });
      expect((await store.scan({ before: 2000, limit: 1 })).records).toEqual([record('due')]);
      for (const index of ['times', 'places']) expect(await ioRedis.zcard(`{${prefix}}:${index}`)).toBe(13);
      expect((await store.scan({ ns: 'ns', state: 'pending', limit: 99 })).records).toHaveLength(13);
    });

    test('if the server forgets its scripts, the store sends them again', async () => {
      const store = open();
      await put(store, record('a'));
      await ioRedis.script('FLUSH');
      expect(await put(store, record('a', { count: 2 }))).toBe('stored');
    });

    test('A22: four stores that raise one record at once lose no update', async () => {
      const prefix = `raise-${name}`;
      const stores = [1, 2, 3, 4].map(() => redisStore(client(), { prefix }));
      const raise = (store: Store) => store.update('n', (now) => ({ next: record('n', { count: ((now as { count?: number })?.count ?? 0) + 1 }), value: 0 }));
      await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => raise(store))));
      expect(await stores[0]?.read('n')).toMatchObject({ count: 80 });
    });
  });

  test('two clients of different kinds share records', async () => {
    const [a, b] = [redisStore(nodeRedis, { prefix: 'both' }), redisStore(ioRedis, { prefix: 'both' })];
    const raise = (store: Store) => store.update('n', (now) => ({ next: record('n', { count: ((now as { count?: number })?.count ?? 0) + 1 }), value: 0 }));
    await Promise.all(Array.from({ length: 40 }, (_, n) => raise(n % 2 ? a : b)));
    expect(await a.read('n')).toEqual(await b.read('n'));
    expect(await a.read('n')).toMatchObject({ count: 40 });
  });

  test('the store works through an ioredis that has its own key prefix and automatic pipelines', async () => {
    const client = new Redis<'legacy'>({ port: server.port, host: '127.0.0.1', keyPrefix: 'app:', enableAutoPipelining: true });
    const store = redisStore(client, { prefix: 'inner' });
    await Promise.all(['a', 'b', 'c'].map((id) => put(store, record(id))));
    expect((await store.scan({ ns: 'ns', state: 'pending', limit: 9 })).records).toHaveLength(3);
    expect((await ioRedis.keys('app:{inner}:*')).length).toBe(5);
    client.disconnect();
  });

  test('the store declares the least that any Redis server keeps', () => {
    expect(redisStore(ioRedis)).toMatchObject({ kind: 'redis', survives: 'process', shared: 'cluster', atomic: true, ownClock: true });
    expect(redisStore(ioRedis).scope).toBe(redisStore(ioRedis).scope);
    expect(redisStore(ioRedis).scope).not.toBe(redisStore(ioRedis, { prefix: 'x' }).scope);
  });

  test.each([[{}], [null], [{ get: () => {} }]])('%o is refused, because it is no client', (client) => {
    expect(() => redisStore(client as never)).toThrow(/node-redis or ioredis/);
  });
});

describeOn(withoutRedis)('on a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  let nodeRedis: NodeRedisCluster;
  let ioRedis: Cluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    nodeRedis = nodeRedisCluster(cluster.ports);
    nodeRedis.on('error', ignore);
    await nodeRedis.connect();
    ioRedis = new Cluster<'legacy'>(cluster.ports.map((port) => ({ host: '127.0.0.1', port })));
    ioRedis.on('error', ignore);
  });
  afterAll(async () => {
    nodeRedis.destroy();
    ioRedis.disconnect();
    await cluster.stop();
  });

  storeContract({ name: 'node-redis cluster', test, open: (medium) => redisStore(nodeRedis, { prefix: `n-${medium}` }) });
  storeContract({ name: 'ioredis cluster', test, open: (medium) => redisStore(ioRedis, { prefix: `i-${medium}` }) });

  test('a hash tag in the prefix decides the slot, and the option `wait` is refused on a cluster', async () => {
    const store = redisStore(ioRedis, { prefix: 'shop-{eu}-keys' });
    await put(store, record('a'));
    expect(await ioRedis.get('shop-{eu}-keys:r:a')).toContain('"id":"a"');
    const clients: readonly RedisClient[] = [nodeRedis, ioRedis];
    for (const client of clients) expect(() => redisStore(client, { wait: { replicas: 1, timeoutMs: 10 } })).toThrow(/plain client/);
  });

  test('the store works through node-redis 4, which sends `evalSha` to random nodes and finally passes on the error of one of them', async () => {
    let node = 0;
    const evalSha = async (sha: string, { keys, arguments: args }: { keys: string[]; arguments: string[] }): Promise<unknown> => {
      const { masters } = nodeRedis;
      const client = await nodeRedis.nodeClient(masters[node++ % masters.length] as (typeof masters)[number]);
      return client.sendCommand(['EVALSHA', sha, String(keys.length), ...keys, ...args]);
    };
    const store = redisStore(Object.create(nodeRedis, { evalSha: { value: evalSha } }), { prefix: 'four' });
    for (let n = 0; n < 6; n++) expect(await store.read('none')).toBeUndefined();
  });
});
