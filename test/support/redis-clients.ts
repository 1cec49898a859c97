/**
 * The clients of Redis that users have, each connected to a server of this machine. Tests write `new Redis<'legacy'>`, which is the default: where the
 * compiler has to infer that type argument, it compares two whole clients, which takes seconds.
 */
import { Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import type { RedisClient } from '../../src/stores/redis/redis.js';
import { ignore } from './stored.js';

export interface Connected {
  readonly client: RedisClient;
  close(): void;
}

/** `againMs`: how soon the client reconnects; else its own default. */
export const redisClients: Readonly<Record<'node-redis' | 'ioredis', (port: number, againMs?: number) => Promise<Connected>>> = {
  async 'node-redis'(port, againMs) {
    const client = createClient({ socket: { host: '127.0.0.1', port, ...(againMs !== undefined && { reconnectStrategy: againMs }) } });
    client.on('error', ignore);
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  async ioredis(port, againMs) {
    const client = new Redis<'legacy'>({ port, host: '127.0.0.1', ...(againMs !== undefined && { retryStrategy: () => againMs }) });
    client.on('error', ignore);
    await client.ping();
    return { client, close: () => client.disconnect() };
  },
};

/** A client of node-redis for a cluster on this machine. Its type has a name, because comparing two results of `createCluster` takes the compiler seconds, too. */
export const nodeRedisCluster = (ports: readonly number[]) => createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) });
export type NodeRedisCluster = ReturnType<typeof nodeRedisCluster>;
