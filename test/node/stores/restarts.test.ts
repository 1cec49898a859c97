/**
 * Goal: a server that is restarted while calls are under way makes none of them take effect twice, and the store goes on by itself
 * afterwards. Method: the real servers, stopped as an operator stops them and started again, with counters that are raised meanwhile.
 */
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import { expect, test, vi } from 'vitest';
import { startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import type { Store, Stored } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { type RedisClient, redisStore } from '../../../src/stores/redis/redis.js';
import { describeOn } from '../../support/describe-on.js';

vi.setConfig({ testTimeout: 60_000 });

const COUNTERS = 8;
const ignore = () => {};
const record = (id: string, count: number): Stored & { count: number } => ({ id, ns: 'ns', state: 'pending', label: `["${id}"]`, forgetAt: 1000, count });
const countOf = (found: unknown): number => (found as { count?: number } | undefined)?.count ?? 0;

/** Raises counters before, while and after `restart`: what resolved was counted once, what was rejected at most once. */
async function counts(store: Store, restart: () => Promise<void>): Promise<void> {
  const tally = Array.from({ length: COUNTERS }, () => ({ resolved: 0, rejected: 0, after: 0 }));
  let phase: 'before' | 'after' | 'over' = 'before';
  const lanes = tally.map(async (mine, n) => {
    while (phase !== 'over') {
      const began = phase;
      await store
        .update(`c${n}`, (now) => ({ next: record(`c${n}`, countOf(now) + 1), value: 0 }))
        .then(
          () => {
            mine.resolved++;
            if (began === 'after') mine.after++;
          },
          () => mine.rejected++,
        );
    }
  });
  await vi.waitFor(() => expect(Math.min(...tally.map(({ resolved }) => resolved))).toBeGreaterThan(5), { timeout: 20_000 });
  await restart();
  phase = 'after';
  await vi.waitFor(() => expect(Math.min(...tally.map(({ after }) => after))).toBeGreaterThan(5), { timeout: 20_000 });
  phase = 'over';
  await Promise.all(lanes);
  for (const [n, { resolved, rejected }] of tally.entries()) {
    const count = countOf(await store.read(`c${n}`));
    expect(count).toBeGreaterThanOrEqual(resolved);
    expect(count).toBeLessThanOrEqual(resolved + rejected);
  }
}

describeOn(withoutPostgres)('PostgreSQL', () => {
  test('that is restarted in mid-call', async () => {
    const server = await startPostgres();
    const pool = new pg.Pool({ ...server.connection, max: 4 });
    pool.on('error', ignore);
    await pool.query(postgresMigration());
    await counts(postgresStore(pool), server.restart).finally(async () => {
      await pool.end();
      server.stop();
    });
  });
});

describeOn(withoutRedis)('Redis', () => {
  const connected = {
    'node-redis': async (port: number): Promise<{ client: RedisClient; close: () => void }> => {
      const client = createClient({ url: `redis://127.0.0.1:${port}` });
      client.on('error', ignore);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
    ioredis: async (port: number): Promise<{ client: RedisClient; close: () => void }> => {
      const client = new Redis(port, '127.0.0.1');
      client.on('error', ignore);
      return { client, close: () => client.disconnect() };
    },
  };
  test.each(Object.entries(connected))('that is restarted in mid-call, by %s', async (_, open) => {
    const server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
    const { client, close } = await open(server.port);
    await counts(redisStore(client), server.restart).finally(() => {
      close();
      return server.stop();
    });
  });
});
