/** Records in Redis or Valkey: a store for many machines. */

import type { ScanPage, ScanQuery, Store } from '../../ports.js';
import { type Claims, createStore, isStored } from '../base.js';
import { Batches } from '../batches.js';
import type { Attempt } from '../compare-and-set.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { onlyOptions } from '../only-options.js';
import { OptimisticUpdater } from '../optimistic-updater.js';
import { dueOf, ordered, pageOfPlaces, rangeOf, recordOf, unordered } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { idIn, labelIn, placeOf, type Redis, seenOf, send, sendAndWait, type Wait } from './attempts.js';
import { type RedisClient, redisFault, scriptsOf, waiterOf } from './client.js';
import { DUE, PLACES, POLICY, READ, READ_ALL, TIDY } from './scripts.js';

export type { IoRedisClient, NodeRedisClient, RedisClient } from './client.js';

/** How a Redis store keeps its records. */
export interface RedisStoreOptions {
  /**
   * What all keys of this store begin with. In a cluster they are all in one slot, `{prefix}`; stores with different prefixes spread
   * over several slots.
   * @default 'oncefetch'
   */
  readonly prefix?: string | undefined;
  /** How long a call may take, ms, for example while the client waits for a server that is gone; at most 10_000. @default 5_000 */
  readonly timeoutMs?: number | undefined;
  /**
   * A strict update waits until this many replicas have it, and rejects if they don't have it in time. This needs a client with a single
   * connection: not a cluster, a pool or a client of a sentinel. @default no waiting
   */
  readonly wait?: { readonly replicas: number; readonly timeoutMs: number } | undefined;
  /**
   * The server's `maxmemory-policy`, to accept a server that may evict records. Each evicted record is a forgotten key, which may lead
   * to a second effect. `'unknown'` if the server does not tell. @default 'noeviction'
   */
  readonly acceptEviction?: string | undefined;
}

const TIMEOUT_MS = 5000;
const CHECK_EVERY_MS = 60_000;
/** For this long, updates join a check of the server that is under way, ms. */
const TOGETHER_MS = 1000;
const WITHOUT_EVICTION = 'noeviction';

/**
 * A store in Redis, shared by all machines that reach it. An update usually takes one round trip. What a crash or a failover may lose
 * depends on the server's settings: see `docs/stores.md`.
 *
 * @param client - a client of node-redis or ioredis, connected or connecting; you close it yourself
 * @throws TypeError if `client` is neither, or can't do what `wait` asks for; RangeError if `timeoutMs` is longer than a call waits, or a number
 * of `wait` is less than 1
 * @example
 * const once = createOnce({ namespace: 'billing', store: redisStore(new Redis()) });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  onlyOptions('redisStore', options, { prefix: 'string', timeoutMs: 'number', wait: 'object', acceptEviction: 'string' });
  const { prefix = 'oncefetch', wait, acceptEviction = WITHOUT_EVICTION } = options;
  const timeoutMs = timeLimit('timeoutMs', options.timeoutMs ?? TIMEOUT_MS);
  const scripts = scriptsOf(client, timeoutMs);
  if (wait) checkWait(wait);
  if (wait && !waiterOf(client)) throw new TypeError('once: wait needs a single connection: a plain client of node-redis or ioredis');
  const scope = `redis:${numberOf(client)}:${prefix}`;
  // All keys must be in one slot of a cluster. If the prefix has no hash tag that decides the slot, make it one.
  const base = /\{[^}]+\}/.test(prefix) ? prefix : `{${prefix}}`;
  const redis: Redis = { scope, scripts, places: `${base}:places`, times: `${base}:times`, keyOf: (ordered) => `${base}:r:${ordered}` };
  // Records count as being in the server's memory until the server says that it logs to the disk.
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
    // If the server refuses the WAIT, it has made the update already.
    unsure: () => wait !== undefined,
  };
  const guesses = new OptimisticUpdater(server, timeoutMs);
  // Records survive the end of a client's process. A crash of the server's machine may lose the last second, depending on its settings.
  const claims: Claims = { kind: 'redis', scope, survives: 'process', shared: 'cluster', atomic: true, ownClock: true };
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

/** Redis itself would refuse a wrong number only after it has made the update, and wait for ever if `timeoutMs` is 0. */
function checkWait(wait: Wait): void {
  onlyOptions('redisStore.wait', wait, { replicas: 'number', timeoutMs: 'number' });
  for (const name of ['replicas', 'timeoutMs'] as const)
    if (!Number.isInteger(wait[name]) || wait[name] < 1)
      throw new RangeError(`once: redisStore.wait.${name} must be a whole number of at least 1, got ${wait[name]}`);
}

/**
 * Asks for the server's role and eviction policy, and whether it logs to the disk. Once they are right, it asks once a minute, because
 * they may be changed while the server runs; until then at each update. Updates at the same time share a check, but only for a second,
 * because a connection of a pool may never answer.
 */
function serverCheck({ scope, scripts, places }: Redis, accepted: string, heard: (logs: boolean) => void): () => Promise<void> {
  let last: { readonly at: number; readonly checking: Promise<void>; right: boolean } | undefined;
  const check = async (): Promise<void> => {
    const [said, logs, role] = ((await scripts.run(POLICY, [places], [])) as unknown[]).map(String);
    const policy = said || 'unknown';
    heard(logs === '1');
    if (role === 'slave') throw new StoreFault('blocked', `${scope} is a replica, where writes do not last: connect to its master`);
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
  const run = (script: string, key: string, ...args: string[]) => guesses.look(() => scripts.run(script, [key], args)) as Promise<string[]>;
  const recordsAt = (found: readonly string[]) => guesses.look(() => readAll(redis, guesses, found));
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

/**
 * The records at these places. If a record has expired, its index entry is removed, even if the record was made again since and has another
 * place.
 */
async function readAll(redis: Redis, guesses: OptimisticUpdater, found: readonly string[]): Promise<unknown[]> {
  const { scripts, places, times, keyOf } = redis;
  if (found.length === 0) return [];
  const ids = found.map((place) => idIn(String(place)));
  const read = (await scripts.run(READ_ALL, [times, ...ids.map(keyOf)], [])) as unknown[];
  const seen = ids.map((_, n) => seenOf(redis, read.slice(2 * n, 2 * n + 2)));
  const records = found.map((place, n) => {
    const record = recordOf(seen[n]?.text);
    return isStored(record) && placeOf(record) !== String(place) ? undefined : record;
  });
  const gone = found.map(String).filter((_, n) => records[n] === undefined);
  if (gone.length > 0) await scripts.run(TIDY, [places, times, ...gone.map((place) => keyOf(idIn(place)))], gone);
  // Remember what was found: an update of one of these records probably follows.
  for (const [n, id] of ids.entries()) guesses.learn(unordered(id), seen[n]);
  return records;
}
