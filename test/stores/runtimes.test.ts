/**
 * Goal: the stores of Workers and of Deno say what is wrong with their arguments and with their database. Method: objects that look
 * like the platform's. `test/runtimes` runs the store contract in the real runtimes.
 */
import { DatabaseSync } from 'node:sqlite';
import { type D1DatabaseLike, type DurableObjectStorageLike, d1Migration, d1Store, durableObjectStore } from 'oncefetch/cloudflare';
import { type DenoKvLike, denoKvStore } from 'oncefetch/deno';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { turnsByLooking, turnsByPromise } from '../../src/stores/turns.js';
import { countOf, raise } from '../support/stored.js';

const failing = (message: string) => ({ prepare: () => ({ bind: () => ({}) as never }), batch: () => Promise.reject(new Error(message)) });
const objectSaying = (version: number | Error): DurableObjectStorageLike => ({
  sql: {
    exec(query) {
      if (version instanceof Error) throw version;
      return { toArray: () => (query.startsWith('SELECT version') ? [{ version }] : []) };
    },
  },
  transactionSync: (work) => work(),
  sync: () => Promise.resolve(),
});

test.each<[string, () => unknown, RegExp]>([
  ['nothing for D1', () => d1Store(undefined as never), /takes a D1 binding, such as env\.DB/],
  ['a session of D1', () => d1Store({ ...failing(''), getBookmark: () => null } as never), /not a session of it/],
  ['a Durable Object without SQL', () => durableObjectStore({ get: () => {} } as never), /list its class in new_sqlite_classes/],
  ['a table whose name is not one word', () => durableObjectStore(objectSaying(1), { table: 'a; DROP TABLE b' }), /table must be letters/],
  ['a table that begins with a digit', () => d1Migration({ table: '1a' }), /table must be letters/],
  ['no Deno KV', () => denoKvStore(null as never), /takes what Deno\.openKv\(\) gives/],
])('a wrong argument: %s: a TypeError says what is expected', (_, make, says) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(says);
});

test('stores on Cloudflare have their own clock; Deno KV has none, and the clock of the machine proves nothing', () => {
  const kv = { atomic: () => {} } as unknown as DenoKvLike;
  expect([d1Store(failing('')), durableObjectStore(objectSaying(1)), denoKvStore(kv)].map(({ ownClock }) => ownClock)).toEqual([true, true, undefined]);
});

describe('an error of the database', () => {
  test.each([
    ['D1_ERROR: no such table: oncefetch_records: SQLITE_ERROR', 'io', /run the SQL that d1Migration\(\) gives/],
    ['D1_ERROR: Exceeded maximum DB size', 'quota', /Exceeded/],
    ['D1_ERROR: string or blob too big: SQLITE_TOOBIG', 'quota', /TOOBIG/],
    ['Network connection lost.', 'io', /lost/],
  ])('D1: %s', async (message, reason, says) => {
    const read = d1Store(failing(message), { timeoutMs: 50 }).read('a');
    await expect(read).rejects.toMatchObject({ name: 'StoreFault', reason, message: expect.stringMatching(says) });
  });

  test.each([
    'D1 DB exceeded its CPU time limit and was reset.',
    'D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1 DB reset because its code was updated.',
  ])('D1 resets: the update is made again, and the database is not taken for full: %s', async (message) => {
    const says = [() => Promise.reject(new Error(`D1_ERROR: ${message}`)), async () => [{ results: [{}] }, { results: [{ now: Date.now() }] }]];
    const store = d1Store({ ...failing(''), batch: () => (says.length > 1 ? says.shift() : says[0])?.() as never });
    const next = { id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000 } as const;
    expect(await store.update('a', () => ({ next, value: 'stored' }))).toBe('stored');
  });

  test('D1 resets after it has made an update, and others change the record: the update is not made a second time', async () => {
    const database = new DatabaseSync(':memory:');
    onTestFinished(() => database.close());
    database.exec(d1Migration());
    const d1 = (after: () => Promise<void>): D1DatabaseLike => ({
      prepare: (sql) => ({ bind: (...values) => ({ sql, values }) as never }),
      async batch(statements) {
        const results = (statements as unknown as { sql: string; values: [] }[]).map(({ sql, values }) => ({ results: database.prepare(sql).all(...values) }));
        await after();
        return results;
      },
    });
    const others = d1Store(d1(async () => {}));
    let resets = 0;
    const store = d1Store(
      d1(async () => {
        if ((await others.read('n')) === undefined || resets++ > 0) return;
        for (let n = 0; n < 3; n++) await raise(others);
        throw new Error('D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.');
      }),
    );
    await expect(raise(store)).rejects.toMatchObject({ reason: 'io', message: expect.stringContaining('can not be told') });
    expect(countOf(await others.read('n'))).toBe(4);
  });

  test('a Durable Object with a newer schema: a read rejects with newer', async () => {
    await expect(durableObjectStore(objectSaying(2)).read('a')).rejects.toMatchObject({ reason: 'newer' });
  });

  test('a Durable Object that is full: a read rejects with quota', async () => {
    await expect(durableObjectStore(objectSaying(new Error('database or disk is full: SQLITE_FULL'))).read('a')).rejects.toMatchObject({ reason: 'quota' });
  });

  test('Deno KV: a closed one rejects with closed, and one that finds a value too large with quota', async () => {
    const kv = (error: Error): DenoKvLike => ({ get: () => Promise.reject(error), list: () => [] as never, atomic: () => ({}) as never });
    const closed = Object.assign(new Error('Bad resource ID'), { name: 'BadResource' });
    await expect(denoKvStore(kv(closed)).read('a')).rejects.toMatchObject({ reason: 'closed' });
    await expect(denoKvStore(kv(new TypeError('Value too large (max 65536 bytes)'))).read('a')).rejects.toMatchObject({ reason: 'quota' });
  });
});

test('after `deleteAll` has emptied the storage of a Durable Object, the store makes its table again at the next call', async () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  const storage: DurableObjectStorageLike = {
    sql: { exec: (query, ...values) => ({ toArray: () => database.prepare(query).all(...values) }) },
    transactionSync(work) {
      database.exec('BEGIN');
      try {
        const done = work();
        database.exec('COMMIT');
        return done;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
    sync: () => Promise.resolve(),
  };
  const deleteAll = () => {
    for (const row of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()) database.exec(`DROP TABLE ${row['name']}`);
  };
  const store = durableObjectStore(storage);
  const next = { id: 'a', ns: 'ns', state: 'pending', label: '["a"]', forgetAt: 1000 } as const;
  const put = () => store.update('a', (found) => ({ next, value: found === undefined }));
  expect(await put()).toBe(true);
  deleteAll();
  expect(await put()).toBe(true);
  expect(await store.read('a')).toEqual(next);
  deleteAll();
  expect(await store.read('a')).toBeUndefined();
  database.exec('DROP TABLE oncefetch_records');
  await expect(store.read('a')).rejects.toMatchObject({ reason: 'io', message: expect.stringMatching(/no such table/) });
});

describe.each([
  ['by promise', turnsByPromise],
  ['by looking', turnsByLooking],
])('turns %s', (_, turns) => {
  test('of one record come one after the other, and those of other records do not wait', async () => {
    const take = turns();
    const first = await take('a', performance.now() + 1000);
    const second = vi.fn();
    const taken = take('a', performance.now() + 1000).then((end) => {
      second();
      end();
    });
    (await take('b', performance.now() + 1000))();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(second).not.toHaveBeenCalled();
    first();
    await taken;
    expect(second).toHaveBeenCalledOnce();
  });
});

test('a turn that is never given back, because its request was cut off, holds up the next one for half a second only', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const take = turnsByLooking();
  await take('a', performance.now() + 5000);
  const taken = vi.fn();
  void take('a', performance.now() + 5000).then(taken);
  await vi.advanceTimersByTimeAsync(499);
  expect(taken).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(10);
  expect(taken).toHaveBeenCalledOnce();
});
