/** node-redis and ioredis alike: who runs a script, and what their errors say. */
import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { StoreFaultReason } from '../../ports.js';
import { StoreFault } from '../fault.js';
import { notSilent } from './silence.js';

/** The part of node-redis (`createClient`, `createCluster`, `createSentinel`, `createClientPool`) that is used. */
export interface NodeRedisClient {
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  readonly isOpen?: boolean | undefined;
}

/** The part of ioredis (`Redis`, `Cluster`) that is used. */
export interface IoRedisClient {
  evalsha(sha: string, keys: number, ...rest: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...rest: string[]): Promise<unknown>;
  on?(event: string, listener: (node: IoRedisClient) => void): unknown;
  /** Of a Cluster. */
  nodes?(): IoRedisClient[];
  readonly status?: string | undefined;
}

/** A client that the caller has made, and closes. */
export type RedisClient = NodeRedisClient | IoRedisClient;

const isNodeRedis = (client: RedisClient): client is NodeRedisClient => typeof (client as Partial<NodeRedisClient> | null)?.evalSha === 'function';
const isIoRedis = (client: RedisClient): client is IoRedisClient => typeof (client as Partial<IoRedisClient> | null)?.evalsha === 'function';

/** What is wanted of a client. */
export interface Scripts {
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** How many replicas have what this connection wrote; waits for `replicas` of them, no longer than `ms`. */
  wait(replicas: number, ms: number): Promise<number>;
  /** Whether its owner closed it. */
  closed(): boolean;
  /** How many connections were lost so far, where the client sends again by itself what had no answer. */
  losses(): number;
}

/** Every script runs by its digest, which is short; a server that does not know it yet is told the script once. */
export function scriptsOf(client: RedisClient, timeoutMs: number): Scripts {
  if (!isNodeRedis(client) && !isIoRedis(client)) throw new TypeError('once: redisStore takes a client of node-redis or ioredis, as its first argument');
  const digests = new Map<string, string>();
  const digestOf = (script: string): string => {
    const digest = digests.get(script) ?? bytesToHex(sha1(utf8ToBytes(script)));
    digests.set(script, digest);
    return digest;
  };
  const [byDigest, byText] = isNodeRedis(client)
    ? [
        (digest: string, keys: readonly string[], args: readonly string[]) => client.evalSha(digest, { keys: [...keys], arguments: [...args] }),
        (script: string, keys: readonly string[], args: readonly string[]) => client.eval(script, { keys: [...keys], arguments: [...args] }),
      ]
    : [
        (digest: string, keys: readonly string[], args: readonly string[]) => client.evalsha(digest, keys.length, ...keys, ...args),
        (script: string, keys: readonly string[], args: readonly string[]) => client.eval(script, keys.length, ...keys, ...args),
      ];
  const answered = notSilent(client, timeoutMs);
  return {
    async run(script, keys, args) {
      try {
        return await answered(() => byDigest(digestOf(script), keys, args));
      } catch (error) {
        // After a restart or a failover, and on each node of a cluster.
        if (codeOf(error) !== 'NOSCRIPT') throw error;
        return answered(() => byText(script, keys, args));
      }
    },
    wait: async (replicas, ms) => Number(await waiterOf(client)?.(['WAIT', String(replicas), String(ms)])),
    losses: isNodeRedis(client) ? () => 0 : lossesOf(client),
    closed: () => (isNodeRedis(client) ? client.isOpen === false : client.status === 'end'),
  };
}

/** By client: one listener for all stores on it. */
const counts = new WeakMap<object, { lost: number }>();

/** ioredis sends again, without a word, what had no answer when a connection was lost. */
function lossesOf(client: IoRedisClient): () => number {
  const known = counts.get(client);
  const count = known ?? { lost: 0 };
  if (!known) {
    counts.set(client, count);
    const watch = (node: IoRedisClient): void => void node.on?.('close', () => count.lost++);
    watch(client);
    client.on?.('+node', watch);
    for (const node of client.nodes?.() ?? []) watch(node);
  }
  return () => count.lost;
}

/**
 * Who sends WAIT over the very connection that scripts go over; it is about that one. `undefined` where there are several:
 * a cluster, a pool, a sentinel's client.
 */
export function waiterOf(client: RedisClient): ((command: string[]) => Promise<unknown>) | undefined {
  const { sendCommand, call, isCluster, unref } = client as {
    sendCommand?(command: string[]): Promise<unknown>;
    call?(...command: string[]): Promise<unknown>;
    isCluster?: boolean;
    unref?: unknown;
  };
  if (isIoRedis(client)) return call && !isCluster ? (command) => call.apply(client, command) : undefined;
  // Of node-redis's clients only the one with one socket can let go of it.
  return sendCommand && unref ? (command) => sendCommand.call(client, command) : undefined;
}

/**
 * The first word of an error reply, which is its kind. It is further in where Redis before 7 tells a script's error, to us or to the
 * script, and where ioredis has followed a cluster to and fro in vain.
 */
const codeOf = (error: unknown): string | undefined =>
  /^(?:ERR .*?: -|@user_script: ?\d+: -?|.* Last error: \w+: )?([A-Z]+) /s.exec(String((error as { message?: unknown } | undefined)?.message))?.[1];

const REASONS: Readonly<Record<string, StoreFaultReason>> = {
  OOM: 'quota',
  NOAUTH: 'denied',
  NOPERM: 'denied',
  WRONGPASS: 'denied',
  WRONGTYPE: 'corrupt',
  // These pass: it starts, elects, has another master or no replicas yet, or is at another script.
  READONLY: 'blocked',
  NOREPLICAS: 'blocked',
  UNBLOCKED: 'blocked',
  LOADING: 'blocked',
  BUSY: 'blocked',
  TRYAGAIN: 'blocked',
  ASK: 'blocked',
  MOVED: 'blocked',
  CLUSTERDOWN: 'blocked',
  MASTERDOWN: 'blocked',
};

export function redisFault(scope: string, client: Scripts, thrown: unknown): StoreFault {
  if (thrown instanceof StoreFault) return thrown;
  const reason = REASONS[codeOf(thrown) ?? ''] ?? (client.closed() ? 'closed' : 'io');
  return new StoreFault(reason, `${scope} failed: ${String((thrown as { message?: unknown } | undefined)?.message)}`, thrown);
}
