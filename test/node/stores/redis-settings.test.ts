/**
 * Goal: the store knows the settings of a Redis server as far as the server tells them, also after a change. It waits while a cluster moves a
 * slot. Method: real servers whose user may not ask for settings, whose settings change at run time, and whose slots move.
 */
import { Cluster, Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis, startRedisCluster, withoutRedis } from '../../../scripts/start-services.ts';
import { type RedisClient, redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';
import { type NodeRedisCluster, nodeRedisCluster } from '../../support/redis-clients.js';
import { ignore, put, record } from '../../support/stored.js';

describeOn(withoutRedis)('a server', () => {
  let server: RedisServer;
  let admin: Redis;
  let prefixes = 0;
  const closing: (() => void)[] = [];
  const connect = {
    'node-redis': async () => {
      const client = createClient({ url: `redis://strict:secret@127.0.0.1:${server.port}` });
      client.on('error', ignore);
      await client.connect();
      closing.push(() => client.destroy());
      return client;
    },
    ioredis: async () => {
      const client = new Redis<'legacy'>(`redis://strict:secret@127.0.0.1:${server.port}`, { enableReadyCheck: false });
      client.on('error', ignore);
      closing.push(() => client.disconnect());
      return client;
    },
  };
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis<'legacy'>({ port: server.port, host: '127.0.0.1' });
    await admin.call('ACL', 'SETUSER', 'strict', 'on', '>secret', '~*', '&*', '+@all', '-@dangerous', '-info');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await admin.call('ACL', 'SETUSER', 'strict', '-info');
  });
  afterAll(async () => {
    for (const close of closing) close();
    admin.disconnect();
    await server.stop();
  });

  test('while the app has a MULTI open on the connection, each call says so, and no record is called damaged', async () => {
    const client = new Redis<'legacy'>(server.port, '127.0.0.1');
    closing.push(() => client.disconnect());
    const store = redisStore(client, { prefix: `p${prefixes++}` });
    await put(store, 'a');
    client.multi({ pipeline: false });
    for (const call of [() => put(store, 'a'), () => put(store, 'b'), () => store.read('a'), () => store.scan({ before: 1, limit: 1 })])
      await expect(call()).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied', message: expect.stringContaining('in the middle of a MULTI') });
    await client.discard();
    expect(await store.read('a')).toBeDefined();
    expect(await put(store, 'b')).toBe('stored');
  });

  describe.each(Object.entries(connect))('%s', (_, connected) => {
    test('refused INFO: the error names two ways out, and both work', async () => {
      const client = await connected();
      const store = redisStore(client, { prefix: `p${prefixes++}` });
      await expect(put(store, 'a')).rejects.toMatchObject({
        name: 'StoreFault',
        reason: 'denied',
        message: expect.stringMatching(/may not run INFO.*ACL SETUSER.*\+info.*acceptEviction: 'unknown'/),
      });
      expect(await put(redisStore(client, { prefix: `p${prefixes++}`, acceptEviction: 'unknown' }), 'a')).toBe('stored');
      await admin.call('ACL', 'SETUSER', 'strict', '+info');
      expect(await put(store, 'a')).toBe('stored');
    });

    test('a change of the server to an evicting policy is noticed within a minute', async () => {
      await admin.call('ACL', 'SETUSER', 'strict', '+info');
      const store = redisStore(await connected(), { prefix: `p${prefixes++}` });
      await put(store, 'a');
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      const real = performance.now.bind(performance);
      vi.spyOn(performance, 'now').mockImplementation(() => real() + 60_000);
      await expect(put(store, 'b')).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining('allkeys-lru') });
    });
  });
});

describeOn(withoutRedis)('a cluster whose slot moves', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  const nodes: Redis[] = [];
  let nodeRedis: NodeRedisCluster;
  let ioRedis: Cluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    for (const port of cluster.ports) nodes.push(new Redis<'legacy'>(port, '127.0.0.1'));
    nodeRedis = nodeRedisCluster(cluster.ports);
    nodeRedis.on('error', ignore);
    await nodeRedis.connect();
    ioRedis = new Cluster<'legacy'>(cluster.ports.map((port) => ({ host: '127.0.0.1', port })));
  });
  afterAll(async () => {
    for (const node of nodes) node.disconnect();
    ioRedis.disconnect();
    nodeRedis.destroy();
    await cluster.stop();
  });

  /** Moves the first `first` keys of the slot of `prefix`. The returned function moves the rest and ends the migration of the slot. */
  const moving = async (prefix: string, first: number): Promise<() => Promise<void>> => {
    const slot = await (nodes[0] as Redis).cluster('KEYSLOT', `{${prefix}}`);
    const ids = await Promise.all(nodes.map((node) => node.cluster('MYID')));
    const owns = await Promise.all(nodes.map((node) => node.exists(`{${prefix}}:places`).then(Boolean, () => false)));
    const [from, to] = [owns.indexOf(true), owns.indexOf(false)];
    const [source, target] = [nodes[from] as Redis, nodes[to] as Redis];
    await target.cluster('SETSLOT', slot, 'IMPORTING', ids[from] as string);
    await source.cluster('SETSLOT', slot, 'MIGRATING', ids[to] as string);
    const move = async (count: number): Promise<void> => {
      const keys = (await source.cluster('GETKEYSINSLOT', slot, count)) as string[];
      if (keys.length > 0) await source.call('MIGRATE', '127.0.0.1', cluster.ports[to] as number, '', 0, 5000, 'KEYS', ...keys);
    };
    if (first > 0) await move(first);
    return async () => {
      await move(100);
      for (const node of [target, source, ...nodes]) await node.cluster('SETSLOT', slot, 'NODE', ids[to] as string);
    };
  };

  describe.each<[string, () => RedisClient]>([
    ['node-redis', () => nodeRedis],
    ['ioredis', () => ioRedis],
  ])('%s', (name, client) => {
    test.each([0, 5])('with %i of its 6 keys moved, new records wait until the move ends, and are rejected if it does not end in time', async (count) => {
      const prefix = `moving-${name}-${count}`;
      const store = redisStore(client(), { prefix, timeoutMs: 3000 });
      for (const id of ['a', 'b', 'c', 'd']) await put(store, id);
      const end = await moving(prefix, count);
      await expect(put(store, 'never')).rejects.toMatchObject({ reason: expect.stringMatching(/blocked|timeout/) });
      const waits = put(redisStore(client(), { prefix, timeoutMs: 5000 }), 'new');
      await new Promise((done) => setTimeout(done, 300));
      await end();
      expect(await waits).toBe('stored');
      for (const id of ['a', 'b', 'c', 'd', 'new']) expect(await store.read(id)).toEqual(record(id));
      expect(await store.read('never')).toBeUndefined();
    });
  });
});
