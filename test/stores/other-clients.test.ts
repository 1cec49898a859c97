/**
 * Goal: a client that looks like a supported one, but has other arguments or results, is refused, and the error says what to hand in. Method:
 * stand-ins with the calling conventions of Upstash's client, version 3 of the package `redis`, node-redis in legacyMode, pg-promise, the
 * package `sqlite3`, and D1.
 */
import { describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/postgres.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.js';

test.each([
  ['redis://127.0.0.1', 'string'],
  [undefined, 'undefined'],
  [{}, 'object'],
])('what is no client at all is refused, with the type that was given: %o', (given, got) => {
  expect(() => redisStore(given as never)).toThrow(`redisStore takes a client of node-redis or ioredis, from versions 4 and 5 on, got ${got};`);
  expect(() => postgresStore(given as never)).toThrow(new RegExp(`postgresStore takes a Pool or Client of pg, .*, got ${got}$`));
});

describe('a client of Redis', () => {
  const evalsha = async (_: string, keys: string[], args: string[]) => [...keys, ...args];
  test.each([
    ['over HTTP, like that of Upstash', { evalsha, eval: evalsha, evalshaRo: evalsha }],
    ['with callbacks, as version 3 of redis', { evalsha: () => false, eval: () => false, on: () => {} }],
  ])('%s: a TypeError names the clients that are taken', (_, client) => {
    expect(() => redisStore(client as never)).toThrow(TypeError);
    expect(() => redisStore(client as never)).toThrow(/node-redis or ioredis.*for Upstash.*TCP address/);
  });

  test.each([
    ['with callbacks, as node-redis in legacyMode', () => undefined],
    ['that collects commands, as `multi()` of node-redis', () => ({ exec: async () => [] })],
  ])('%s: the fault says what to hand in', async (_, evalSha) => {
    const put = redisStore({ evalSha, eval: evalSha } as never).update('a', () => ({ value: 1 }));
    await expect(put).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied', message: expect.stringMatching(/no reply.*legacyMode hand in its v4/) });
  });
});

test.each([
  ['returns the rows themselves, like that of pg-promise', () => Promise.resolve([{ found: 'oncefetch_records', comment: null }])],
  ['returns nothing, like one that takes a callback', () => undefined],
])('a client of PostgreSQL whose `query` %s: the fault says how to hand it in', async (_, query) => {
  const read = postgresStore({ query } as never).read('a');
  await expect(read).rejects.toMatchObject({ name: 'StoreFault', reason: 'io', message: expect.stringMatching(/gave no \{ rows \}.*hand in \{ query: async/) });
});

describe('a PGlite', () => {
  const declared = (dataDir: string | undefined) => postgresStore({ query: async () => ({ rows: [] }), dataDir } as never);

  test.each([undefined, 'memory://', 'memory://orders'])('in memory (%s) survives nothing', (dataDir) => {
    expect(declared(dataDir)).toMatchObject({ survives: 'context', shared: 'context' });
  });

  test.each(['./data', 'file://data', 'idb://data'])('in %s survives', (dataDir) => expect(declared(dataDir)).toMatchObject({ survives: 'machine' }));
});

describe('a database of SQLite whose statements', () => {
  const statement = {
    get(): unknown {
      return this;
    },
  };
  test.each([
    ['take a callback, as those of the package sqlite3', () => statement],
    ['have no `get`, as those of D1', () => ({ first: async () => null })],
    ['come later', async () => statement],
  ])('%s: the fault says what to hand in', async (_, prepare) => {
    const read = sqliteStore({ database: { prepare, exec: async () => {}, close: async () => {} } as never }).read('a');
    await expect(read).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied', message: expect.stringMatching(/rows at once: hand in a DatabaseSync/) });
  });
});
