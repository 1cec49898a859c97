/**
 * Goal: sweeps remove due records faster than new records come, however many processes settle and sweep at once, and scanning for them costs
 * at most one statement for every hundred calls. Method: four real processes on each real store, which has more due records than they can
 * remove. The test counts the records that are left, and the scans.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import type { Store } from '../../../src/ports.js';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { script } from '../../support/child.js';
import { describeOn } from '../../support/describe-on.js';
import { made } from '../../support/made.js';
import { aRecord } from '../../support/record.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const PROCESSES = 4;
const SETTLES = 600;
const OVER = 8000;
const DAY_MS = 86_400_000;

let worker: ReturnType<typeof script>;
beforeAll(() => void (worker = script(join(import.meta.dirname, 'sweep-worker.ts'))));
afterAll(() => worker.remove());

const isOver = { before: Date.now(), limit: 2 * OVER };

async function keepsUp(kind: string, at: string, store: Store): Promise<void> {
  const over = Array.from({ length: OVER }, (_, n) => aRecord({ id: made(`over-${n}`), state: 'retired', forgetAt: Date.now() - DAY_MS + n }));
  for (let n = 0; n < OVER; n += 100)
    await Promise.all(over.slice(n, n + 100).map((next) => store.update(next.id, () => ({ next, value: 0 }), { durability: 'relaxed' })));
  expect((await store.scan(isOver)).records).toHaveLength(OVER);
  const children = Array.from({ length: PROCESSES }, (_, n) => worker.start([kind, at, `p${n}`, String(SETTLES)]));
  await Promise.all(children.map((child) => child.line((line) => line === 'ready')));
  for (const child of children) child.say('go');
  const told = await Promise.all(children.map((child) => child.line((line) => line.startsWith('{'))));
  const scans = told.map((line) => (JSON.parse(line) as { scans: number }).scans);
  const removed = OVER - (await store.scan(isOver)).records.length;
  expect(Math.max(...scans)).toBeLessThanOrEqual(SETTLES / 100);
  // Less than the full rate: processes that start together find the same records in their first scan, and later again by
  // chance.
  expect(removed / (PROCESSES * SETTLES)).toBeGreaterThan(1.5);
}

test('SQLite removes due records faster than new ones come', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-sweep-'));
  const path = join(folder, 'x.db');
  const store = sqliteStore({ path });
  await keepsUp('SQLite', path, store);
  await store.close();
  rmSync(folder, { recursive: true });
});

describeOn(withoutPostgres)('PostgreSQL', () => {
  test('removes due records faster than new ones come', async () => {
    const server = await startPostgres();
    const pool = new pg.Pool({ ...server.connection, max: 4 });
    await pool.query(postgresMigration());
    await keepsUp('PostgreSQL', `postgres://postgres@127.0.0.1:${server.port}/postgres`, postgresStore(pool)).finally(async () => {
      await pool.end();
      server.stop();
    });
  });
});

describeOn(withoutRedis)('Redis', () => {
  test('removes due records faster than new ones come', async () => {
    const server = await startRedis();
    const client = new Redis<'legacy'>(server.port, '127.0.0.1');
    await keepsUp('Redis', `redis://127.0.0.1:${server.port}`, redisStore(client)).finally(() => {
      client.disconnect();
      return server.stop();
    });
  });
});
