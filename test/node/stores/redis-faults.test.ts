/**
 * Goal: whatever happens to the server or the client, a call ends soon, reports nothing untrue and changes nothing
 * twice. Method: real servers that are killed, filled, stopped or misconfigured; replicas; clients whose connection is
 * cut.
 */
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis, withoutRedis } from '../../../scripts/start-services.ts';
import { createOnce, type Outcome, run } from '../../../src/entries/index.js';
import type { Store, Stored } from '../../../src/ports.js';
import { type RedisClient, redisStore } from '../../../src/stores/redis/redis.js';
import { countsWhileCut, storesUntilKilled } from '../../support/counts.js';
import { describeOn } from '../../support/describe-on.js';
import { type Connected, redisClients } from '../../support/redis-clients.js';
import { ignore, put, record } from '../../support/stored.js';

const faults = (name: keyof typeof redisClients) => () => {
  let server: RedisServer;
  let admin: Redis;
  const open: Connected[] = [];
  let prefixes = 0;
  const storeOn = async (options: object = {}, port = server.port): Promise<Connected & { store: Store }> => {
    const connected = await redisClients[name](port, 20);
    open.push(connected);
    return { ...connected, store: redisStore(connected.client, { prefix: `p${prefixes++}`, timeoutMs: 3000, ...options }) };
  };
  beforeAll(async () => {
    // With these settings, Redis acknowledges a write only when it is on disk.
    server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    admin = new Redis<'legacy'>({ port: server.port, host: '127.0.0.1', retryStrategy: () => 20 });
    admin.on('error', ignore);
  });
  afterEach(() => {
    for (const { close } of open.splice(0)) close();
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  test('a client that its owner closed: calls reject with closed', async () => {
    const { store, close } = await storeOn();
    await put(store, record('a'));
    close();
    open.splice(0);
    await new Promise((done) => setTimeout(done, 50));
    for (const call of [() => put(store, record('b')), () => store.read('a'), () => store.scan({ before: 1, limit: 1 })]) {
      await expect(call()).rejects.toMatchObject({ name: 'StoreFault', reason: 'closed' });
    }
  });

  test('a client that nobody has connected: a client of node-redis rejects, and the message says what to call; ioredis connects by itself', async () => {
    const client =
      name === 'node-redis'
        ? createClient({ socket: { host: '127.0.0.1', port: server.port } })
        : new Redis<'legacy'>(server.port, '127.0.0.1', { lazyConnect: true });
    const end = await put(redisStore(client as RedisClient, { prefix: 'unconnected' }), record('a')).catch((error: unknown) => error);
    if (name === 'node-redis') expect(end).toMatchObject({ reason: 'closed', message: expect.stringContaining('await client.connect()') });
    else expect(end).toBe('stored');
    if (client instanceof Redis) client.disconnect();
  });

  test('a server that is gone: calls reject at the time limit, and a rejected update is not committed when the server is back', async () => {
    const { store } = await storeOn();
    await put(store, record('a'));
    await server.kill();
    const start = performance.now();
    const results = await Promise.allSettled([put(store, record('late')), store.read('a'), store.scan({ before: 1, limit: 1 })]);
    expect(performance.now() - start).toBeLessThan(8000);
    for (const result of results) expect((result as PromiseRejectedResult).reason.reason).toMatch(/^(timeout|io)$/);
    await new Promise((done) => setTimeout(done, 500));
    await server.start();
    await expect.poll(() => store.read('a').catch(String)).toEqual(record('a'));
    expect(await store.read('late')).toBeUndefined();
    expect(await put(store, record('b'))).toBe('stored');
  });

  test.each([1, 2])(
    'connections cut during updates, again and again, %i writers: each resolved update took effect once, each rejected one at most once',
    async (writers) => {
      const prefix = `cut-${name}-${writers}`;
      const stores = await Promise.all(Array.from({ length: writers }, () => storeOn({ prefix, timeoutMs: 5000 }).then(({ store }) => store)));
      const cut = () => admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await countsWhileCut(stores, 120, cut, (n) => 3 + (n % 7));
    },
  );

  test('a server killed during updates: every acknowledged record is there when the server is back', async () => {
    const { store } = await storeOn();
    const { stored } = await storesUntilKilled(store, () => server.kill());
    await server.start();
    for (const id of stored) await expect.poll(() => store.read(id).catch(String), { message: id }).toEqual(record(id));
  });

  test('a full server: a new record rejects with quota, and a stored one stays and can be removed', async () => {
    const { store } = await storeOn();
    await put(store, record('a'));
    await admin.config('SET', 'maxmemory', '1');
    await expect(put(store, record('b'))).rejects.toMatchObject({ reason: 'quota' });
    expect(await store.read('a')).toEqual(record('a'));
    await store.update('a', () => ({ next: null, value: undefined }));
    await admin.config('SET', 'maxmemory', '0');
    expect([await store.read('a'), await store.read('b')]).toEqual([undefined, undefined]);
    expect(await put(store, record('b'))).toBe('stored');
  });

  test('a server whose snapshots fail: updates and looks reject with denied at once, nothing is stored, and later calls go on', async () => {
    const { store } = await storeOn();
    await put(store, record('a'));
    const [, folder = ''] = (await admin.config('GET', 'dir')) as string[];
    // A folder stands where the snapshot must go.
    mkdirSync(join(folder, 'dump.rdb'));
    const snapshotIs = async (status: string) => {
      await admin.bgsave().catch(ignore);
      await expect.poll(() => admin.info('persistence')).toContain(`rdb_last_bgsave_status:${status}`);
    };
    await admin.config('SET', 'save', '3600 1000000');
    await snapshotIs('err');
    const updates = [() => put(store, record('b')), () => put(store, record('a'), 'relaxed'), () => store.update('a', () => ({ next: null, value: 0 }))];
    const together = () => Promise.all(['c', 'd'].map((id) => put(store, record(id))));
    for (const call of [...updates, together, () => store.read('a'), () => store.scan({ before: 1, limit: 1 })]) {
      const begun = performance.now();
      await expect(call()).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining('MISCONF') });
      expect(performance.now() - begun).toBeLessThan(1000);
    }
    rmdirSync(join(folder, 'dump.rdb'));
    await snapshotIs('ok');
    await admin.config('SET', 'save', '');
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => store.read(id)))).toEqual([record('a'), undefined, undefined, undefined]);
    expect(await put(store, record('b'))).toBe('stored');
  });

  test('A34: a server that evicts: strict updates reject and name the ways out, until the policy is noeviction', async () => {
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { store, client } = await storeOn();
    await expect(put(store, record('a'))).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringMatching(/allkeys-lru.*CONFIG SET maxmemory-policy noeviction.*acceptEviction: 'allkeys-lru'/),
    });
    expect(await store.read('a')).toBeUndefined();
    expect(await put(store, record('a'), 'relaxed')).toBe('stored');
    expect(await put(redisStore(client, { acceptEviction: 'allkeys-lru' }), record('b'))).toBe('stored');
    await expect(put(redisStore(client, { acceptEviction: 'volatile-ttl' }), record('b'))).rejects.toMatchObject({ reason: 'denied' });
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await put(store, record('a'))).toBe('stored');
  });

  test('storedIn is disk for a server with an append-only file, and session for a server without one', async () => {
    const { store } = await storeOn();
    const end = async () => {
      let outcome: Outcome | undefined;
      const once = createOnce({ namespace: 'n', store, onOutcome: (told) => (outcome = told) });
      await run(once, ['stored', Math.random()], () => 1);
      return outcome?.storedIn;
    };
    expect(await end()).toBe('disk');
    await admin.config('SET', 'appendonly', 'no');
    const { store: another } = await storeOn();
    await put(another, record('a'));
    expect(another.storedIn?.()).toBe('session');
    await admin.config('SET', 'appendonly', 'yes');
  });

  test('a user without the permission: updates reject with denied', async () => {
    const { store } = await storeOn();
    await admin.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha');
    await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'denied' });
    await admin.call('ACL', 'SETUSER', 'default', '+@all');
    expect(await put(store, record('a'))).toBe('stored');
  });

  test.each(['get', 'set', 'pexpireat', 'zadd'])(
    'a user without the permission for %s, which only the scripts use: updates reject with denied, and at once',
    async (command) => {
      const { store } = await storeOn();
      await admin.call('ACL', 'SETUSER', 'default', `-${command}`);
      const begun = performance.now();
      await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'denied' });
      expect(performance.now() - begun).toBeLessThan(1000);
      await admin.call('ACL', 'SETUSER', 'default', '+@all');
      expect(await put(store, record('a'))).toBe('stored');
    },
  );

  test('a server busy with a long script: updates, reads and scans wait, and are made', async () => {
    const { store } = await storeOn({ timeoutMs: 5000, prefix: `busy-${name}` });
    await put(store, record('a'));
    await admin.config('SET', 'busy-reply-threshold', '10');
    const long = admin.eval(
      "local t = redis.call('TIME') while true do local n = redis.call('TIME') if (n[1] - t[1]) * 1e6 + n[2] - t[2] > 3e5 then return 1 end end",
      0,
    );
    await new Promise((done) => setTimeout(done, 50));
    const looks = [store.read('a'), store.scan({ ns: 'ns', state: 'settled', limit: 1 }), store.scan({ before: 2000, limit: 1 })];
    expect(await put(store, record('b'))).toBe('stored');
    expect(await Promise.all(looks)).toMatchObject([record('a'), { records: [] }, { records: [record('a')] }]);
    await long;
    await admin.config('SET', 'busy-reply-threshold', '5000');
  });

  test('a Redis key of another type in place of the record: calls reject with corrupt, and the Redis key stays', async () => {
    const { store } = await storeOn({ prefix: `type-${name}` });
    await admin.hset(`{type-${name}}:r:a`, 'x', '1');
    for (const call of [() => put(store, record('a')), () => store.read('a')]) await expect(call()).rejects.toMatchObject({ reason: 'corrupt' });
    expect(await admin.hgetall(`{type-${name}}:r:a`)).toEqual({ x: '1' });
  });

  test('a record in a newer format: calls reject with newer, and the record stays as it is', async () => {
    const { store } = await storeOn({ prefix: `newer-${name}` });
    const newer = '2\nwhatever comes\nthen';
    await admin.set(`{newer-${name}}:r:a`, newer);
    const calls = [() => put(store, record('a')), () => store.read('a'), () => store.update('a', () => ({ next: null, value: 0 }))];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ reason: 'newer', message: expect.stringMatching(/format 2, this is 1/) });
    expect(await admin.get(`{newer-${name}}:r:a`)).toBe(newer);
  });

  test('an update keeps the unknown fields of a record that a newer version wrote in this format', async () => {
    const { store } = await storeOn();
    const newer = record('n', { v: 99, novel: { deep: [1] } });
    await put(store, newer);
    await store.update('n', (current) => ({ next: { ...(current as Stored), state: 'settled' }, value: 0 }));
    expect(await store.read('n')).toEqual({ ...newer, state: 'settled' });
  });

  describe('with replicas', () => {
    let [master, replica] = [undefined as unknown as RedisServer, undefined as unknown as RedisServer];
    beforeAll(async () => {
      master = await startRedis(['--repl-diskless-sync-delay', '0']);
      replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)]);
      const asked = new Redis<'legacy'>(master.port, '127.0.0.1');
      await vi.waitFor(async () => expect(await asked.info('replication')).toContain('state=online'), { timeout: 15_000 });
      asked.disconnect();
    });
    afterAll(async () => {
      await replica.stop();
      await master.stop();
    });

    test('A34: a strict update waits for the replicas, and rejects if there are too few; a relaxed one does not wait', async () => {
      const { store } = await storeOn({ wait: { replicas: 1, timeoutMs: 4000 }, timeoutMs: 9000 }, master.port);
      expect(await put(store, record('a'))).toBe('stored');
      const there = new Redis<'legacy'>(replica.port, '127.0.0.1');
      expect((await there.keys('*')).some((key) => key.endsWith(':r:a'))).toBe(true);
      there.disconnect();
      const { store: greedy } = await storeOn({ wait: { replicas: 2, timeoutMs: 50 } }, master.port);
      await expect(put(greedy, record('b'))).rejects.toMatchObject({ reason: 'timeout', message: expect.stringMatching(/only 1 of 2 replicas/) });
      expect(await put(greedy, record('b', { count: 2 }), 'relaxed')).toBe('stored');
    });

    test('A34: what a strict update stored is there after a failover', async () => {
      const prefix = `failover-${name}`;
      const { store } = await storeOn({ prefix, wait: { replicas: 1, timeoutMs: 4000 }, timeoutMs: 9000 }, master.port);
      for (let n = 0; n < 50; n++) await put(store, record(`f${n}`));
      await master.kill();
      const promoted = new Redis<'legacy'>(replica.port, '127.0.0.1');
      await promoted.replicaof('NO', 'ONE');
      const { store: after } = await storeOn({ prefix }, replica.port);
      for (let n = 0; n < 50; n++) expect(await after.read(`f${n}`)).toEqual(record(`f${n}`));
      expect(await put(after, record('f0', { state: 'settled' }))).toBe('stored');
      promoted.disconnect();
    });
  });
};

for (const name of ['node-redis', 'ioredis'] as const) describeOn(withoutRedis)(name, faults(name));

test.each([
  'NOPERM this user has no permissions to access one of the keys used as arguments',
  // Redis 7.0, and from 7.2 on.
  "ERR The user executing the script can't run this command or subcommand script: 53d9, on @user_script:5.",
  "ERR ACL failure in script: User u has no permissions to run the 'zadd' command script: 53d9, on @user_script:5.",
])('an error reply about permissions becomes a fault with the reason denied: %s', async (said) => {
  const client = { evalSha: () => Promise.reject(new Error(said)), eval: () => Promise.reject(new Error(said)) };
  await expect(redisStore(client, { timeoutMs: 500 }).read('a')).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining(said) });
});

test.each([
  ['OOM', 'quota', 'at once'],
  ['MISCONF', 'denied', 'at once'],
  ['READONLY', 'blocked', 'at the end of its time'],
  ['NOREPLICAS', 'blocked', 'at the end of its time'],
  ['LOADING', 'blocked', 'at the end of its time'],
  ['MASTERDOWN', 'blocked', 'at the end of its time'],
  ['CLUSTERDOWN', 'blocked', 'at the end of its time'],
])('an error reply %s becomes a fault with the reason %s, %s', async (code, reason, when) => {
  let asked = 0;
  const refuses = () => Promise.reject(new Error(`${code} it says so`, { cause: ++asked }));
  await expect(redisStore({ evalSha: refuses, eval: refuses }, { timeoutMs: 500 }).read('a')).rejects.toMatchObject({ name: 'StoreFault', reason });
  if (when === 'at once') expect(asked).toBe(1);
  else expect(asked).toBeGreaterThan(1);
});
