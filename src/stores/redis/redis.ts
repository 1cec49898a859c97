/** Records in Redis, or Valkey: a store for many machines. */

import type { ScanPage, ScanQuery, Store } from '../../ports.js';
import { type Claims, createStore } from '../base.js';
import { Batches } from '../batches.js';
import type { Attempt } from '../compare-and-set.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { OptimisticUpdater } from '../optimistic-updater.js';
import { dueOf, ordered, pageOfPlaces, rangeOf, recordOf, unordered } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { idIn, labelIn, type Redis, seenOf, send, sendAndWait } from './attempts.js';
import { type RedisClient, redisFault, scriptsOf, waiterOf } from './client.js';
import { DUE, PLACES, POLICY, READ, READ_ALL, TIDY } from './scripts.js';

export type { IoRedisClient, NodeRedisClient, RedisClient } from './client.js';

/** How a Redis store keeps its records. */
export interface RedisStoreOptions {
  /**
   * What all its keys begin with. All of them are in one slot of a cluster, `{prefix}`; several prefixes spread over it.
   * @default 'oncefetch'
   */
  readonly prefix?: string | undefined;
  /** How long a call may take, ms, where the client waits for a server that is gone; at most 10_000. @default 5_000 */
  readonly timeoutMs?: number | undefined;
  /**
   * A strict update waits until this many replicas have it, and rejects if they don't in time. It is about one connection:
   * a cluster, a pool or a sentinel's client can't. @default no waiting
   */
  readonly wait?: { readonly replicas: number; readonly timeoutMs: number } | undefined;
  /**
   * The `maxmemory-policy` of the server, if it may evict records all the same: each one that it evicts is a key that is
   * forgotten, and may become a second effect. `'unknown'` where the server does not tell. @default 'noeviction'
   */
  readonly acceptEviction?: string | undefined;
}

const TIMEOUT_MS = 5000;
const CHECK_EVERY_MS = 60_000;
/** So long updates join a check that has no answer yet, ms. */
const TOGETHER_MS = 1000;
const WITHOUT_EVICTION = 'noeviction';

/**
 * A store in Redis, which all machines share that reach it. An update is one round trip as a rule. What a crash or a
 * failover of the server may lose is the server's to say: see `docs/stores.md`.
 *
 * @param client - of node-redis or ioredis, connected or connecting; its owner closes it
 * @throws TypeError where `client` is neither, or can't do what `wait` asks for; RangeError where `timeoutMs` is longer than a call waits
 * @example
 * const once = createOnce({ namespace: 'billing', store: redisStore(new Redis()) });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  const { prefix = 'oncefetch', wait, acceptEviction = WITHOUT_EVICTION } = options;
  const timeoutMs = timeLimit('timeoutMs', options.timeoutMs ?? TIMEOUT_MS);
  const scripts = scriptsOf(client, timeoutMs);
  if (wait && !waiterOf(client)) throw new TypeError('once: wait is about one connection to one server, so it needs a plain client of node-redis or ioredis');
  const scope = `redis:${numberOf(client)}:${prefix}`;
  // A tag of the caller's own decides the slot.
  const base = /\{[^}]+\}/.test(prefix) ? prefix : `{${prefix}}`;
  const redis: Redis = { scope, scripts, places: `${base}:places`, times: `${base}:times`, keyOf: (ordered) => `${base}:r:${ordered}` };
  // In its memory, until it says that it logs to the disk.
  let logs = false;
  const policy = serverCheck(redis, acceptEviction, (said) => {
    logs = said;
  });
  const batches = new Batches((attempts) => (wait ? sendAndWait(redis, attempts, wait) : send(redis, attempts)));
  const server = {
    attempt: async (attempt: Attempt) => {
      if (attempt.durability === 'strict') await policy();
      return batches.attempt(attempt);
    },
    read: async (id: string) => seenOf(redis, (await scripts.run(READ, [redis.keyOf(ordered(id)), redis.times], [])) as unknown[]),
    fault: (error: unknown) => redisFault(scope, scripts, error),
  };
  const guesses = new OptimisticUpdater(server, timeoutMs);
  // Of a client's process; the server's machine may be set up to lose a second.
  const claims: Claims = { kind: 'redis', scope, survives: 'process', shared: 'cluster', atomic: true };
  const store = createStore(
    claims,
    {
      update: (id, next, durability) => guesses.update(id, next, durability),
      read: (id) => guesses.read(id),
      scan: (query) => scan(redis, guesses, query),
    },
    () => guesses.clock.said,
  );
  return { ...store, storedIn: () => (logs ? 'disk' : 'session') };
}

/**
 * Asks for the server's role and eviction policy, and whether it logs to the disk: once a minute, because they may be changed while it
 * runs; until they are right, for each update. Updates at once ask together, but not for long: a connection of a pool may never answer.
 */
function serverCheck({ scope, scripts, places }: Redis, accepted: string, heard: (logs: boolean) => void): () => Promise<void> {
  let last: { readonly at: number; readonly checking: Promise<void>; right: boolean } | undefined;
  const check = async (): Promise<void> => {
    const [said, logs, role] = ((await scripts.run(POLICY, [places], [])) as unknown[]).map(String);
    const policy = said || 'unknown';
    heard(logs === '1');
    if (role === 'slave') throw new StoreFault('blocked', `${scope} is a replica, and what is written there does not stay: connect to its master`);
    if (policy === WITHOUT_EVICTION || policy === accepted) return;
    throw new StoreFault(
      'denied',
      `${scope} may evict keys, and each would be a payment that can be made twice: ${
        said
          ? `its maxmemory-policy is ${policy}. Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf), use a server of its own`
          : 'its maxmemory-policy is unknown, because its user may not run INFO. Allow that (ACL SETUSER … +info)'
      }, or accept it by acceptEviction: '${policy}'`,
    );
  };
  const begin = async (): Promise<void> => {
    const mine = { at: performance.now(), checking: check(), right: false };
    last = mine;
    try {
      await mine.checking;
      mine.right = true;
    } catch (error) {
      if (last === mine) last = undefined;
      throw error;
    }
  };
  return () => {
    const lasts = last?.right ? CHECK_EVERY_MS : TOGETHER_MS;
    return last && performance.now() - last.at < lasts ? last.checking : begin();
  };
}

async function scan(redis: Redis, guesses: OptimisticUpdater, query: ScanQuery): Promise<ScanPage> {
  const { scripts, places, times } = redis;
  const run = (script: string, key: string, ...args: string[]) => guesses.within(() => scripts.run(script, [key], args)) as Promise<string[]>;
  const recordsAt = (found: readonly string[]) => guesses.within(() => readAll(redis, guesses, found));
  if ('before' in query) {
    const before = Number.isFinite(query.before) ? String(query.before) : 'inf';
    return dueOf(async (offset, count) => recordsAt(await run(DUE, times, before, String(offset), String(count))), query);
  }
  const { label, id, end } = rangeOf(query);
  const from = [query.ns, query.state].map(ordered).join('\t');
  const found = (await run(PLACES, places, `(${from}\t${label}\t${id}`, `(${from}\t${end}`, String(query.limit + 1))).map(String);
  const records = await recordsAt(found);
  return pageOfPlaces(
    found.map((place, n) => ({ label: labelIn(place), id: idIn(place), record: records[n] })),
    query,
  );
}

/** The records at these places. What leads to a record that has expired is removed. */
async function readAll(redis: Redis, guesses: OptimisticUpdater, found: readonly string[]): Promise<unknown[]> {
  const { scripts, places, times, keyOf } = redis;
  if (found.length === 0) return [];
  const ids = found.map((place) => idIn(String(place)));
  const read = (await scripts.run(READ_ALL, [times, ...ids.map(keyOf)], [])) as unknown[];
  const seen = ids.map((_, n) => seenOf(redis, read.slice(2 * n, 2 * n + 2)));
  const gone = found.filter((_, n) => seen[n] === undefined).map(String);
  if (gone.length > 0) await scripts.run(TIDY, [places, times, ...gone.map((place) => keyOf(idIn(place)))], gone);
  // For whoever works on what it found.
  for (const [n, id] of ids.entries()) guesses.learn(unordered(id), seen[n]);
  return seen.map((one) => recordOf(one?.text));
}
