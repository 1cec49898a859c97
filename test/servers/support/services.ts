/** The database servers that the schemes share. `startServices` starts those that are asked for, if they are installed. */
import { type PostgresServer, type RedisServer, startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import type { Services } from './run.js';

let postgres: PostgresServer | undefined;
let redis: RedisServer | undefined;

export async function startServices(asked: readonly (string | undefined)[] = ['postgres', 'redis']): Promise<Services> {
  if (asked.includes('postgres') && !withoutPostgres) postgres = await startPostgres();
  if (asked.includes('redis') && !withoutRedis) redis = await startRedis();
  return { ...(postgres && { postgres: postgres.connection }), ...(redis && { redis: redis.port }) };
}

export async function stopServices(): Promise<void> {
  postgres?.stop();
  await redis?.stop();
}
