/**
 * Goal: a strict update with `wait` is reported as stored only if the replicas have it, even if the connection breaks during the wait. Method: a
 * paused replica, and a master that cuts the connection. ioredis then sends WAIT again over a new connection. Nothing was written over that one,
 * so WAIT counts every replica. Redis 7.2 and later always count so; earlier versions only if WAIT is the first command of the connection.
 */
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type RedisServer, startRedis, withoutRedis } from '../../../scripts/start-services.ts';
import type { Stored } from '../../../src/ports.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';
import { countOf, raise } from '../../support/stored.js';

describeOn(withoutRedis)('a connection that breaks while a strict update waits for the replicas', () => {
  let [master, replica] = [undefined as unknown as RedisServer, undefined as unknown as RedisServer];
  let [client, admin] = [undefined as unknown as Redis, undefined as unknown as Redis];
  beforeAll(async () => {
    master = await startRedis(['--repl-diskless-sync-delay', '0']);
    replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)]);
    admin = new Redis<'legacy'>(master.port, '127.0.0.1');
    await vi.waitFor(async () => expect(await admin.info('replication')).toContain('state=online'), { timeout: 15_000 });
    const bare = { enableReadyCheck: false, disableClientInfo: true, protocol: 2 } as const;
    client = new Redis<'legacy'>({ port: master.port, host: '127.0.0.1', retryStrategy: () => 20, ...bare });
    for (const one of [client, admin]) one.on('error', () => {});
  });
  afterAll(async () => {
    for (const one of [client, admin]) one.disconnect();
    replica.resume();
    await replica.stop();
    await master.stop();
  });

  test('the update times out while the replica is paused, and the next one is stored when the replica is back', async () => {
    const store = redisStore(client, { wait: { replicas: 1, timeoutMs: 2000 }, timeoutMs: 8000 });
    const record = (count: number): Stored => ({ id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000, ...{ count } });
    const put = (count: number) => store.update('a', () => ({ next: record(count), value: 'stored' }), { durability: 'strict' });
    expect(await put(1)).toBe('stored');
    replica.pause();
    const waiting = put(2);
    waiting.catch(() => {});
    await expect.poll(() => admin.call('CLIENT', 'LIST', 'TYPE', 'normal')).toMatch(/cmd=wait/i);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expect(waiting).rejects.toMatchObject({ reason: 'timeout' });
    replica.resume();
    expect(await put(3)).toBe('stored');
  });

  test('if the server ends the wait, and others have changed the record by then, the update is not made a second time', async () => {
    const others = redisStore(admin, { prefix: 'unblocked' });
    const call = admin.call.bind(admin);
    let waits = 0;
    const demoted = Object.assign(Object.create(client) as Redis, {
      async call(...command: [string, ...string[]]) {
        if (waits++) return call(...command);
        for (let n = 0; n < 3; n++) await raise(others);
        throw new Error('UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)');
      },
    });
    await raise(others);
    const store = redisStore(demoted, { prefix: 'unblocked', wait: { replicas: 1, timeoutMs: 2000 } });
    await expect(raise(store)).rejects.toMatchObject({ reason: 'io', message: expect.stringContaining('can not be told') });
    expect(countOf(await others.read('n'))).toBe(5);
  });

  test('with node-redis, whose connection breaks before it writes WAIT, the update times out as well', async () => {
    const socket = { host: '127.0.0.1', port: master.port, reconnectStrategy: 20 };
    const other = createClient({ socket, RESP: 2, disableClientInfo: true, maintNotifications: 'disabled' });
    other.on('error', () => {});
    await other.connect();
    const send = other.sendCommand.bind(other);
    let breaks = false;
    const sendCommand = async (command: string[]) => {
      if (breaks) {
        const again = new Promise((resolve) => void other.once('ready', resolve));
        await admin.call('CLIENT', 'KILL', 'ID', String(await other.clientId()));
        await again;
      }
      return send(command);
    };
    const store = redisStore(Object.assign(other, { sendCommand }), { prefix: 'node-redis', wait: { replicas: 1, timeoutMs: 2000 }, timeoutMs: 8000 });
    const record: Stored = { id: 'b', ns: 'ns', state: 'pending', label: '["b"]', forgetAt: 1000 };
    const put = () => store.update('b', () => ({ next: record, value: 'stored' }), { durability: 'strict' });
    expect(await put()).toBe('stored');
    replica.pause();
    breaks = true;
    await expect(put()).rejects.toMatchObject({ reason: 'timeout' });
    breaks = false;
    replica.resume();
    expect(await put()).toBe('stored');
    other.destroy();
  });
});
