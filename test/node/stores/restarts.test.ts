/**
 * Goal: if the server restarts while updates are in flight, no update takes effect twice, and the store works again by itself. Method: the
 * real servers, stopped as an operator stops them and started again, while the test raises counters.
 */
import pg from 'pg';
import { test } from 'vitest';
import { startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import { postgresMigration, postgresStore } from '../../../src/stores/postgres/postgres.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { counts } from '../../support/counts.js';
import { describeOn } from '../../support/describe-on.js';
import { redisClients } from '../../support/redis-clients.js';

describeOn(withoutPostgres)('PostgreSQL', () => {
  test('restarts in the middle of calls: no update is lost or takes effect twice, and the store continues', async () => {
    const server = await startPostgres();
    const pool = new pg.Pool({ ...server.connection, max: 4 });
    pool.on('error', () => {});
    await pool.query(postgresMigration());
    await counts(postgresStore(pool), server.restart).finally(async () => {
      await pool.end();
      server.stop();
    });
  });
});

describeOn(withoutRedis)('Redis', () => {
  test.each(Object.entries(redisClients))(
    'restarts in the middle of calls: no update by %s is lost or takes effect twice, and the store continues',
    async (_, open) => {
      const server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
      const { client, close } = await open(server.port);
      await counts(redisStore(client), server.restart).finally(() => {
        close();
        return server.stop();
      });
    },
  );
});
