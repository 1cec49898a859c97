/** Goal: with `wait`, a call sends nothing before the replicas have its record, even if the store's first guess of that record was wrong. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RedisServer, startRedis, withoutRedis } from '../../../scripts/start-services.ts';
import { createOnce, run } from '../../../src/entries/index.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';

describeOn(withoutRedis)('a master without replicas', () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis<'legacy'>(server.port, '127.0.0.1');
    client.on('error', () => {});
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test.each([
    ['a new name', false],
    ['a name that another process was refused before', true],
  ])('%s: ERR_ONCE_STORE, and nothing is sent', async (name, refused) => {
    const declined = () => Promise.reject(new Error('declined'));
    const other = createOnce({ namespace: 'shop', store: redisStore(client) });
    if (refused) await expect(run(other, ['pay', name], declined, { verdict: () => 'rejected' })).rejects.toThrow('declined');
    const once = createOnce({ namespace: 'shop', store: redisStore(client, { wait: { replicas: 1, timeoutMs: 50 } }) });
    let sent = 0;
    await expect(run(once, ['pay', name], () => ++sent)).rejects.toMatchObject({ code: 'ERR_ONCE_STORE' });
    expect(sent).toBe(0);
  });
});
