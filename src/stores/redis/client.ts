/** One interface for node-redis and ioredis: running scripts, and reading errors. */
import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { typeOf } from '../../core/name.js';
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
  /** Only a Cluster has this. */
  nodes?(): IoRedisClient[];
  /** Other clients have an `evalsha` too, which takes other arguments, but not this. */
  readonly status: string;
}

/** A client that the app has made and closes itself. */
export type RedisClient = NodeRedisClient | IoRedisClient;

const isNodeRedis = (client: RedisClient): client is NodeRedisClient => typeof (client as Partial<NodeRedisClient> | null)?.evalSha === 'function';
const isIoRedis = (client: RedisClient): client is IoRedisClient => {
  const { evalsha, status } = Object(client) as Partial<IoRedisClient>;
  return typeof evalsha === 'function' && typeof status === 'string';
};

const NO_REPLY =
  'the client gave no reply: redisStore takes one whose calls give promises, so of a client of node-redis in legacyMode hand in its v4, and no legacy() or multi() of one';

/** What the store needs of a client. */
export interface Scripts {
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Waits until `replicas` replicas have what this connection wrote, at most `ms`. Gives how many have it. */
  wait(replicas: number, ms: number): Promise<number>;
  /** Whether the app has closed the client. */
  closed(): boolean;
  /** How many connections were lost so far, if the client itself repeats requests that got no answer; otherwise 0. */
  losses(): number;
}

type Run = (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** How a client runs a script by its digest, and by its text. */
function waysOf(client: RedisClient): readonly [byDigest: Run, byText: Run] {
  if (!isNodeRedis(client))
    return [
      (digest, keys, args) => client.evalsha(digest, keys.length, ...keys, ...args),
      (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    ];
  // A cluster of node-redis 4 sends `evalSha` to nodes at random, until it gives up; so it must be told the key that decides the node.
  if ('nodeByAddress' in client) {
    const { sendCommand } = client as unknown as { sendCommand(key: string | undefined, readOnly: boolean, command: string[]): Promise<unknown> };
    const way =
      (command: string): Run =>
      (script, keys, args) =>
        sendCommand.call(client, keys[0], false, [command, script, String(keys.length), ...keys, ...args]);
    return [way('EVALSHA'), way('EVAL')];
  }
  return [
    (digest, keys, args) => client.evalSha(digest, { keys: [...keys], arguments: [...args] }),
    (script, keys, args) => client.eval(script, { keys: [...keys], arguments: [...args] }),
  ];
}

/** Runs each script by its digest, which is short. If a server does not know it yet, it gets the script's text once. */
export function scriptsOf(client: RedisClient, timeoutMs: number): Scripts {
  if (!isNodeRedis(client) && !isIoRedis(client))
    throw new TypeError(
      `once: redisStore takes a client of node-redis or ioredis, from versions 4 and 5 on, got ${typeOf(client)}; for Upstash, connect one of them to its TCP address (rediss://…)`,
    );
  const digests = new Map<string, string>();
  const digestOf = (script: string): string => {
    const digest = digests.get(script) ?? bytesToHex(sha1(utf8ToBytes(script)));
    digests.set(script, digest);
    return digest;
  };
  const [byDigest, byText] = waysOf(client);
  const answered = notSilent(client, timeoutMs);
  // node-redis repeats nothing, but what it has not written yet goes out over its next connection.
  const changes = countOf(client, isNodeRedis(client) ? 'connect' : 'close');
  return {
    async run(script, keys, args) {
      const said = await answered(() => byDigest(digestOf(script), keys, args)).catch((error) => {
        // The server does not know the script yet: after a restart or a failover, or on another node of a cluster.
        if (codeOf(error) !== 'NOSCRIPT') throw error;
        return answered(() => byText(script, keys, args));
      });
      // Not `blocked`, because each further attempt would be one more command in the app's transaction.
      if (said === 'QUEUED') throw new StoreFault('denied', 'the connection is in the middle of a MULTI of the app: give the store a connection of its own');
      // Every script gives a list, or nothing. A client with callbacks gives `undefined` at once, and a MULTI gives itself.
      if (said !== null && !Array.isArray(said)) throw new StoreFault('denied', NO_REPLY);
      return said;
    },
    async wait(replicas, ms) {
      const before = changes.times;
      const heard = await waiterOf(client)?.(['WAIT', String(replicas), String(ms)]);
      // On a new connection WAIT counts every replica, because nothing was written there: then none is known to have it.
      return changes.times > before ? 0 : Number(heard);
    },
    losses: () => (isNodeRedis(client) ? 0 : changes.times),
    closed: () => (isNodeRedis(client) ? client.isOpen === false : client.status === 'end'),
  };
}

/** How often an event was heard, by client, so that all stores on a client share one listener. */
const counts = new WeakMap<object, { times: number }>();

/**
 * Counts the connections that ioredis loses (`close`), after which it silently repeats the requests that had no answer, or those
 * that node-redis makes (`connect`).
 */
function countOf(client: RedisClient, event: 'close' | 'connect'): { readonly times: number } {
  const count = counts.get(client) ?? { times: 0 };
  if (!counts.has(client)) {
    counts.set(client, count);
    const one = client as IoRedisClient;
    const watch = (node: IoRedisClient): void => void node.on?.(event, () => count.times++);
    watch(one);
    one.on?.('+node', watch);
    for (const node of one.nodes?.() ?? []) watch(node);
  }
  return count;
}

/**
 * A function that sends WAIT over the connection that scripts use, because WAIT is about the writes of its own connection. `undefined`
 * if the client has several connections: a cluster, a pool, a client of a sentinel.
 */
export function waiterOf(client: RedisClient): ((command: string[]) => Promise<unknown>) | undefined {
  const { sendCommand, call, isCluster, unref } = client as {
    sendCommand?(command: string[]): Promise<unknown>;
    call?(...command: string[]): Promise<unknown>;
    isCluster?: boolean;
    unref?: unknown;
  };
  if (isIoRedis(client)) return call && !isCluster ? (command) => call.apply(client, command) : undefined;
  // Of node-redis's clients, only the one with a single socket has `unref`.
  return sendCommand && unref ? (command) => sendCommand.call(client, command) : undefined;
}

/**
 * The code of an error reply, which is its first word. Other text may come before it: when Redis before version 7 reports an error of
 * a script, and when ioredis gives up following the redirections of a cluster.
 */
const codeOf = (error: unknown): string | undefined =>
  /^(?:ERR .*?: -|@user_script: ?\d+: -?|.* Last error: \w+: )?([A-Z]+) /s.exec(String((error as { message?: unknown } | undefined)?.message))?.[1];

const REASONS: Readonly<Record<string, StoreFaultReason>> = {
  OOM: 'quota',
  NOAUTH: 'denied',
  NOPERM: 'denied',
  WRONGPASS: 'denied',
  // The server can't write its snapshots, so it refuses all writes. That lasts, and nothing was stored.
  MISCONF: 'denied',
  WRONGTYPE: 'corrupt',
  // Temporary: the server starts, an election is under way, there is another master or no replica yet, or another script is running.
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
  const said = String((thrown as { message?: unknown } | undefined)?.message);
  // What a user may not do within a script has no code of its own in Redis 7.
  const otherwise = /^ERR (The user executing the|ACL failure in) script/.test(said) ? 'denied' : client.closed() ? 'closed' : 'io';
  const reason = REASONS[codeOf(thrown) ?? ''] ?? otherwise;
  // node-redis says this of a client that was never connected, too.
  return new StoreFault(reason, `${scope} failed: ${said}${said === 'The client is closed' ? ': call await client.connect() first' : ''}`, thrown);
}
