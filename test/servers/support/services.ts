/** The database servers that the schemes share: started once, where they are to be had. */
import { type PostgresServer, type RedisServer, startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../../scripts/start-services.ts';
import type { Services } from './run.js';

let postgres: PostgresServer | undefined;
let redis: RedisServer | undefined;

export async function startServices(): Promise<Services> {
  if (!withoutPostgres) postgres = await startPostgres();
  if (!withoutRedis) redis = await startRedis();
  return { ...(postgres && { postgres: postgres.connection }), ...(redis && { redis: redis.port }) };
}

export async function stopServices(): Promise<void> {
  postgres?.stop();
  await redis?.stop();
}
