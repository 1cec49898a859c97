/**
 * Goal: jobs of a real queue take effect once, although the queue delivers them again. Method: BullMQ and the store on one Redis; a
 * provider that honours keys; handlers that fail after the effect; two workers at once.
 */
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RedisServer, startRedis, withoutRedis } from '../../../scripts/start-services.ts';
import { close, createOnce, type Once, outcomeOf, run } from '../../../src/entries/index.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';

describeOn(withoutRedis)('BullMQ', () => {
  let server: RedisServer;
  let redis: Redis;
  const clients: Once[] = [];
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis<'legacy'>(server.port, '127.0.0.1');
  });
  afterAll(async () => {
    await Promise.all(clients.map((once) => close(once)));
    redis.disconnect();
    await server.stop();
  });

  test('a job that failed after its effect runs again under the same key, on any worker; a job that is done does not run again', async () => {
    const connection = { host: '127.0.0.1', port: server.port };
    const keys: string[] = [];
    const charges = new Set<string>();
    const handler = () => {
      const once = createOnce({ namespace: 'billing', store: redisStore(redis), durability: 'required' });
      clients.push(once);
      return async ({ data }: { data: { order: string } }) =>
        run(
          once,
          ['charge', data.order],
          ({ key }) => {
            keys.push(key);
            charges.add(key);
            // The answer is lost, twice.
            if (keys.length < 3) throw new Error('lost');
            return `charged ${data.order}`;
          },
          { limits: { attempts: 1 } },
        );
    };
    const [queue, events] = [new Queue('charges', { connection }), new QueueEvents('charges', { connection })];
    const workers = [handler(), handler()].map((handle) => new Worker<{ order: string }, string>('charges', handle, { connection }));
    await events.waitUntilReady();
    const job = await queue.add('charge', { order: 'o-1' }, { attempts: 5, backoff: { type: 'fixed', delay: 10 } });
    expect(await job.waitUntilFinished(events)).toBe('charged o-1');
    expect([keys.length, charges.size]).toEqual([3, 1]);
    // The producer sends the same order again, in another job.
    const again = await queue.add('charge', { order: 'o-1' });
    expect(await again.waitUntilFinished(events)).toBe('charged o-1');
    expect(keys).toHaveLength(3);
    await Promise.all(workers.map((worker) => worker.close()));
    await Promise.all([queue.close(), events.close()]);
    const value = await run(clients[0] as Once, ['charge', 'o-1'], () => 'never');
    expect([value, outcomeOf(value)]).toEqual(['charged o-1', undefined]);
  });
});
