/**
 * Goal: when a Redis replica takes over, the store continues with it by itself and counts nothing twice. Records that
 * the new master never received are lost, as docs/stores.md says. Method: real sentinels and clusters, masters that are
 * killed or paused, a replica that missed acknowledged writes, and a shop that honours keys and counts charges.
 */
import { Cluster, Redis } from 'ioredis';
import { createCluster, createSentinel } from 'redis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type SentinelGroup, startFailoverCluster, startSentinelGroup } from '../../../scripts/start-failover.ts';
import { freePort, withoutRedis } from '../../../scripts/start-services.ts';
import { createOnce, derived, outcomeOf } from '../../../src/entries/node.js';
import type { Store } from '../../../src/ports.js';
import { type RedisClient, type RedisStoreOptions, redisStore } from '../../../src/stores/redis/redis.js';
import { counts } from '../../support/counts.js';
import { describeOn } from '../../support/describe-on.js';
import { ignore, put, record } from '../../support/stored.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function groupOf(options: readonly string[] = []): Promise<SentinelGroup> {
  const group = await startSentinelGroup(options);
  closing.push(group.stop);
  return group;
}
const bySentinel: Readonly<Record<string, (group: SentinelGroup) => Promise<RedisClient>>> = {
  async ioredis({ name, sentinel }) {
    const client = new Redis<'legacy'>({ name, sentinels: [sentinel], retryStrategy: () => 50 });
    client.on('error', ignore);
    closing.push(() => client.disconnect());
    await client.ping();
    return client;
  },
  async 'node-redis'({ name, sentinel }) {
    const client = createSentinel({ name, sentinelRootNodes: [sentinel], scanInterval: 200 });
    client.on('error', ignore);
    await client.connect();
    closing.push(() => client.destroy());
    return client as unknown as RedisClient;
  },
};

/** A shop that charges each key once. `pay` makes one payment through `store`, and resolves to its error code or its effect. */
function shop() {
  const charges = new Set<string>();
  let sent = 0;
  const fetch = async (_: unknown, init?: RequestInit) => {
    sent++;
    charges.add(new Headers(init?.headers).get('idempotency-key') ?? '');
    return new Response('{}', { status: 201 });
  };
  const pay = async (store: Store, key?: typeof derived) => {
    const once = createOnce({ namespace: 'shop', store, fetch: fetch as typeof globalThis.fetch, durability: 'required' });
    const name = { operation: ['pay', 'c1'] as const, ...(key && { key }) };
    const end = await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: name }).catch((error: unknown) => error);
    return (end as { code?: string }).code ?? outcomeOf(end)?.effect;
  };
  return { pay, charged: () => charges.size, sent: () => sent };
}

describeOn(withoutRedis)('a sentinel’s group', () => {
  describe.each(Object.entries(bySentinel))('%s', (_, connect) => {
    test.each(['is killed', 'stands still, and comes back'])('goes on with the replica if the master %s, and counts nothing twice', async (how) => {
      const group = await groupOf();
      const store = redisStore(await connect(group), { timeoutMs: 2000 });
      const takeOver = async () => {
        if (how === 'is killed') await group.master.kill();
        else group.master.pause();
        await group.takenOver();
        group.master.resume();
      };
      await counts(store, takeOver, { mayLose: true });
      expect(await group.masterPort()).toBe(group.replica.port);
    });
  });

  const storeOn = async (group: SentinelGroup, options: RedisStoreOptions = {}) =>
    redisStore(await (bySentinel['ioredis'] as (group: SentinelGroup) => Promise<RedisClient>)(group), { timeoutMs: 2500, ...options });
  /** Cuts the replica off, runs `meanwhile`, kills the master, and waits until the replica has taken over. */
  const losing = async (group: SentinelGroup, meanwhile: () => Promise<unknown>): Promise<unknown> => {
    const replica = new Redis<'legacy'>(group.replica.port, '127.0.0.1');
    await replica.replicaof('127.0.0.1', await freePort());
    replica.disconnect();
    const end = await meanwhile();
    await group.master.kill();
    await group.takenOver();
    return end;
  };

  test('a record that the replica never got is lost: with a random key the next call charges again, with a derived key it does not', async () => {
    for (const [key, charges] of [
      [undefined, 2],
      [derived, 1],
    ] as const) {
      const group = await groupOf();
      const { pay, charged, sent } = shop();
      const store = await storeOn(group);
      expect(await losing(group, () => pay(store, key))).toBe('done');
      expect(await pay(await storeOn(group), key)).toBe('done');
      expect([sent(), charged()]).toEqual([2, charges]);
    }
  });

  test('with wait, a payment whose record the replica lacks is not sent; it is made after the failover', async () => {
    const group = await groupOf();
    const { pay, charged, sent } = shop();
    const store = await storeOn(group, { wait: { replicas: 1, timeoutMs: 200 } });
    expect(await losing(group, () => pay(store))).toBe('ERR_ONCE_STORE');
    expect(sent()).toBe(0);
    expect(await pay(await storeOn(group))).toBe('done');
    expect([sent(), charged()]).toEqual([1, 1]);
  });

  test('A34: with wait, every record that was reported as stored is there after the failover', async () => {
    const group = await groupOf();
    const store = await storeOn(group, { wait: { replicas: 1, timeoutMs: 3000 }, timeoutMs: 9000 });
    const stored: string[] = [];
    const writing = Promise.all(
      Array.from({ length: 16 }, async (_, lane) => {
        for (let n = 0; n < 1000; n++) {
          await put(store, `${lane} ${n}`);
          stored.push(`${lane} ${n}`);
        }
      }),
    ).catch(ignore);
    await vi.waitFor(() => expect(stored.length).toBeGreaterThan(100), { timeout: 20_000 });
    await group.master.kill();
    await writing;
    await group.takenOver();
    const after = await storeOn(group);
    expect(await Promise.all(stored.map((id) => after.read(id)))).toEqual(stored.map((id) => record(id)));
    // No replica is left, and a strict update reports that.
    const refused = { reason: 'timeout', message: expect.stringContaining('only 0 of 1 replicas') };
    await vi.waitFor(() => expect(put(store, 'alone')).rejects.toMatchObject(refused), { timeout: 40_000 });
  });

  test('with min-replicas-to-write, a master that loses its replica soon takes no more payments', async () => {
    const group = await groupOf(['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1']);
    const { pay, sent } = shop();
    const store = await storeOn(group, { timeoutMs: 500 });
    group.replica.pause();
    await vi.waitFor(() => expect(put(store, 'x')).rejects.toMatchObject({ reason: 'blocked' }), { timeout: 10_000, interval: 200 });
    expect([await pay(store), sent()]).toEqual(['ERR_ONCE_STORE', 0]);
  });
});

describeOn(withoutRedis)('a cluster', () => {
  const byCluster: Readonly<Record<string, (ports: readonly number[]) => Promise<RedisClient>>> = {
    async ioredis(ports) {
      const client = new Cluster<'legacy'>(
        ports.map((port) => ({ host: '127.0.0.1', port })),
        { clusterRetryStrategy: () => 50 },
      );
      client.on('error', ignore);
      closing.push(() => client.disconnect());
      await client.ping();
      return client;
    },
    async 'node-redis'(ports) {
      const client = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) });
      client.on('error', ignore);
      await client.connect();
      closing.push(() => client.destroy());
      return client as unknown as RedisClient;
    },
  };
  test.each(Object.entries(byCluster))('%s goes on with the replica of a master that is killed, and counts nothing twice', async (_, connect) => {
    const cluster = await startFailoverCluster();
    closing.push(cluster.stop);
    const store = redisStore(await connect(cluster.ports), { prefix: 'shop', timeoutMs: 2000 });
    await counts(store, () => cluster.killMasterOf('{shop}'), { mayLose: true });
  });
});
