/** Goal: the IndexedDB store tells the truth when IndexedDB misbehaves. Method: real IndexedDB, with one method at a time replaced. */
import { afterEach, test as anyTest, describe, expect } from 'vitest';
import { server } from 'vitest/browser';
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';
import { StoreFault } from '../../../src/stores/fault.js';
import { put, record } from '../../../src/testing/contract/bench.js';
import { freshName, plantInDatabase, replaceMethod, replaceProperty, settled } from './support.js';

// Not called `name`: in browsers, Vitest passes fixtures as members of a function, whose `name` is read-only.
const test = anyTest.extend('database', () => freshName()).extend('store', ({ database }) => indexedDbStore({ name: database }));

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0).reverse()) restore();
});

const replace: typeof replaceMethod = (type, name, make) => {
  const restore = replaceMethod(type, name, make);
  undo.push(restore);
  return restore;
};

/** Counts how often this database is opened, and keeps the connection in use. */
function watch(database: string): { opened: number; live: IDBDatabase | undefined } {
  const seen = { opened: 0, live: undefined as IDBDatabase | undefined };
  replace(
    IDBFactory,
    'open',
    (open) =>
      function (...args) {
        if (args[0] === database) seen.opened++;
        return open.apply(this, args);
      },
  );
  replace(
    IDBDatabase,
    'transaction',
    (transaction) =>
      function (...args) {
        if ((this as IDBDatabase).name === database) seen.live = this as IDBDatabase;
        return transaction.apply(this, args);
      },
  );
  return seen;
}

/** Rolls back every writing transaction after its put has succeeded, as when the disk refuses the commit. */
function failCommits(): () => void {
  // A transaction with an explicit commit cannot be aborted any more.
  replace(IDBTransaction, 'commit', () => () => {});
  return replace(
    IDBObjectStore,
    'put',
    (original) =>
      function (...args) {
        const request = original.apply(this, args) as IDBRequest;
        request.addEventListener('success', () => (this as IDBObjectStore).transaction.abort());
        return request;
      },
  );
}

/** Gives the test its own databases with their own quota. Returns a function that deletes them, as a browser does when it evicts. */
async function inBucket(options: { quota?: number }): Promise<() => Promise<void>> {
  const buckets = (navigator as unknown as { storageBuckets: StorageBuckets }).storageBuckets;
  const name = freshName();
  const { indexedDB: ours } = await buckets.open(name, options);
  undo.push(replaceProperty(globalThis, 'indexedDB', { value: ours }));
  return () => buckets.delete(name);
}

/** Chromium only: https://wicg.github.io/storage-buckets/ */
interface StorageBuckets {
  open(name: string, options: { quota?: number }): Promise<{ indexedDB: IDBFactory }>;
  delete(name: string): Promise<void>;
}

/** Random bytes, which cannot be compressed. */
const noise = (bytes: number): Uint8Array[] => Array.from({ length: Math.ceil(bytes / 65_536) }, () => crypto.getRandomValues(new Uint8Array(65_536)));

const faultOf = (work: Promise<unknown>): Promise<StoreFault> =>
  work.then(
    () => expect.unreachable('it resolved'),
    (error) => {
      expect(error).toBeInstanceOf(StoreFault);
      return error;
    },
  );

describe('a write', () => {
  test('whose put succeeds but whose commit fails rejects', async ({ store }) => {
    const restore = failCommits();
    const fault = await faultOf(put(store, record('a')));
    expect(fault.reason).toBe('io');
    expect(fault.message).toMatch(/indexeddb:oncefetch-test-\S+ failed: \S/);
    restore();
    expect(await store.read('a')).toBeUndefined();
  });

  test('is not tried again after its put, because the record might be stored', async ({ store, database }) => {
    await put(store, record('b'));
    const seen = watch(database);
    failCommits();
    let calls = 0;
    await faultOf(store.update('a', () => ({ next: record('a'), value: calls++ })));
    expect(calls).toBe(1);
    expect(seen.opened).toBe(0);
  });

  test('of a value that cannot be cloned rejects, stores nothing and keeps the old record', async ({ store }) => {
    await put(store, record('a'));
    const fault = await faultOf(put(store, record('a', { call: () => {} })));
    expect((fault.cause as DOMException).name).toBe('DataCloneError');
    expect(await store.read('a')).toEqual(record('a'));
    await put(store, record('a', { count: 2 }));
    expect(await store.read('a')).toEqual(record('a', { count: 2 }));
  });

  test('beyond the quota rejects with reason quota, and the old record stays', async ({ skip }) => {
    skip(server.browser === 'webkit', 'WebKitGTK has no quota that a test can reach');
    if (server.browser === 'chromium') await inBucket({ quota: 1_000_000 });
    // The tests run Firefox with a small quota.
    const room = server.browser === 'firefox' ? ((await navigator.storage.estimate()).quota ?? 0) : 1_000_000;
    expect(room).toBeLessThan(20_000_000);
    const store = indexedDbStore({ name: freshName() });
    await put(store, record('a'));
    const fault = await faultOf(put(store, record('a', { body: noise(room + 4_000_000) })));
    expect(fault.reason).toBe('quota');
    expect((fault.cause as DOMException).name).toBe('QuotaExceededError');
    expect(await store.read('a')).toEqual(record('a'));
  });

  test('that the database refuses rejects with the cause', async ({ database: name }) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.result.createObjectStore('records').createIndex('one', 'ns', { unique: true });
    (await settled(request)).close();
    const store = indexedDbStore({ name });
    await put(store, record('a'));
    expect(await faultOf(put(store, record('b')))).toMatchObject({ reason: 'io', cause: { name: 'ConstraintError' } });
    expect(await store.read('b')).toBeUndefined();
  });

  test('is strict unless the call asks for relaxed', async ({ store }) => {
    const asked: unknown[] = [];
    replace(
      IDBDatabase,
      'transaction',
      (transaction) =>
        function (...args) {
          asked.push((args[2] as IDBTransactionOptions | undefined)?.durability);
          return transaction.apply(this, args);
        },
    );
    await put(store, record('a'));
    await store.update('a', () => ({ value: undefined }), { durability: 'relaxed' });
    await store.update('a', () => ({ value: undefined }), { durability: 'strict' });
    expect(asked).toEqual(['strict', 'relaxed', 'strict']);
  });

  test('whose change throws is not tried again, and the connection stays', async ({ store, database }) => {
    await put(store, record('b'));
    const seen = watch(database);
    let calls = 0;
    const change = () => {
      calls++;
      throw new TypeError('mine');
    };
    await expect(store.update('a', change)).rejects.toThrow(new TypeError('mine'));
    await put(store, record('a'));
    expect({ calls, opened: seen.opened }).toEqual({ calls: 1, opened: 0 });
  });
});

describe('a connection', () => {
  test('that was closed under the store is opened again, and the call succeeds', async ({ store, database }) => {
    const seen = watch(database);
    await put(store, record('a'));
    seen.live?.close();
    await put(store, record('a', { count: 2 }));
    expect(await store.read('a')).toEqual(record('a', { count: 2 }));
    expect(seen.opened).toBe(2);
  });

  test('that the browser closes because the data of the site are cleared is opened again', async ({ store, database }) => {
    const seen = watch(database);
    await put(store, record('a'));
    const first = seen.live;
    const closed = new Promise((resolve) => first?.addEventListener('close', resolve));
    // Its answer has the header Clear-Site-Data.
    await fetch('/site/clear.html');
    await closed;
    // The browser also closes a connection that is opened while it still clears.
    await expect.poll(() => put(store, record('b')).catch(String)).toBeUndefined();
    expect(await store.read('a')).toBeUndefined();
    expect(await store.read('b')).toEqual(record('b'));
    expect(seen.live).not.toBe(first);
  });

  test('that the browser closes because it evicts the database is opened again', async ({ skip, database }) => {
    skip(server.browser !== 'chromium', 'only Chromium can be made to evict');
    const evict = await inBucket({});
    const store = indexedDbStore({ name: database });
    const seen = watch(database);
    await put(store, record('a'));
    const closed = new Promise((resolve) => seen.live?.addEventListener('close', resolve));
    await evict();
    await closed;
    await inBucket({});
    expect(await store.read('a')).toBeUndefined();
    await put(store, record('b'));
    expect(await store.read('b')).toEqual(record('b'));
  });

  test('that dies before a write is replaced, and the change sees the record', async ({ store, database }) => {
    await put(store, record('a'));
    const seen = watch(database);
    let deaths = 1;
    replace(
      IDBObjectStore,
      'get',
      (get) =>
        function (...args) {
          const request = get.apply(this, args);
          if (deaths-- > 0) (this as IDBObjectStore).transaction.abort();
          return request;
        },
    );
    expect(await store.update('a', (current) => ({ next: record('a', { count: 2 }), value: current }))).toEqual(record('a'));
    expect(await store.read('a')).toEqual(record('a', { count: 2 }));
    expect(seen.opened).toBe(1);
  });

  test('that stays dead makes the second try reject', async ({ store }) => {
    await put(store, record('a'));
    let tries = 0;
    replace(IDBDatabase, 'transaction', () => () => {
      tries++;
      throw new DOMException('Connection to Indexed Database server lost. Refresh the page to try again', 'UnknownError');
    });
    expect((await faultOf(store.read('a'))).reason).toBe('io');
    expect(tries).toBe(2);
  });

  test('gives way to another connection that upgrades the database, and works with the upgraded database', async ({ database: name }) => {
    const store = indexedDbStore({ name });
    await put(store, record('a'));
    const newer = await settled(indexedDB.open(name, 7));
    expect(newer.version).toBe(7);
    newer.close();
    expect(await store.read('a')).toEqual(record('a'));
  });

  test('gives way to a deletion, and starts with an empty database', async ({ database: name }) => {
    const store = indexedDbStore({ name });
    await put(store, record('a'));
    await settled(indexedDB.deleteDatabase(name));
    expect(await store.read('a')).toBeUndefined();
    await put(store, record('b'));
    expect(await store.read('b')).toEqual(record('b'));
  });

  test('is closed with its store', async ({ store, database }) => {
    const seen = watch(database);
    await put(store, record('a'));
    await store.close();
    expect(() => seen.live?.transaction('records')).toThrow(expect.objectContaining({ name: 'InvalidStateError' }));
  });

  test('is shared by the calls of one store', async ({ store, database }) => {
    const seen = watch(database);
    await Promise.all([put(store, record('a')), put(store, record('b')), store.read('c'), store.scan({ before: 1, limit: 1 })]);
    expect(seen.opened).toBe(1);
  });
});

describe('an opening', () => {
  /** Deletes the database while another connection to it stays open: every opening has to wait. */
  async function blockade(name: string): Promise<() => Promise<void>> {
    const stubborn = await settled(indexedDB.open(name));
    const deletion = settled(indexedDB.deleteDatabase(name));
    return async () => {
      stubborn.close();
      await deletion;
    };
  }

  test('that is blocked rejects after openTimeoutMs, and the next call tries again', async ({ database: name }) => {
    const lift = await blockade(name);
    const store = indexedDbStore({ name, openTimeoutMs: 500 });
    const began = performance.now();
    const fault = await faultOf(put(store, record('a')));
    expect(fault.reason).toBe('blocked');
    expect(performance.now() - began).toBeGreaterThanOrEqual(495);
    await expect(store.available?.()).rejects.toMatchObject({ reason: 'blocked' });
    await lift();
    // A busy disk may take longer to open the database than this store waits.
    await expect.poll(() => put(store, record('a')).then(() => 'stored', String), { timeout: 15_000 }).toBe('stored');
    expect(await store.read('a')).toEqual(record('a'));
  });

  test('that comes too late leaves no connection behind', async ({ database: name }) => {
    const lift = await blockade(name);
    const store = indexedDbStore({ name, openTimeoutMs: 50 });
    await faultOf(store.read('a'));
    await lift();
    // If a connection were still open, this upgrade would wait forever.
    const db = await settled(indexedDB.open(name, 9));
    expect(db.version).toBe(9);
    db.close();
  });

  test('that failed is not kept: the next call opens again', async ({ store }) => {
    const restore = replace(IDBFactory, 'open', () => () => {
      throw new DOMException('the disk is busy', 'UnknownError');
    });
    expect(await faultOf(store.read('a'))).toMatchObject({ reason: 'io', cause: { message: 'the disk is busy' } });
    restore();
    expect(await store.read('a')).toBeUndefined();
  });

  test('that is in progress when the store is closed serves the call that waits for it, and leaves no connection behind', async ({ database: name }) => {
    const store = indexedDbStore({ name });
    const reading = store.read('a');
    await store.close();
    expect(await reading).toBeUndefined();
    expect((await faultOf(store.read('a'))).reason).toBe('closed');
    const db = await settled(indexedDB.open(name, 9));
    expect(db.version).toBe(9);
    db.close();
  });

  test('of a database of this name with other tables rejects, and does not change the database', async ({ database: name }) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.result.createObjectStore('theirs').put('kept', 'key');
    (await settled(request)).close();
    const store = indexedDbStore({ name });
    expect((await faultOf(put(store, record('a')))).cause).toMatchObject({ name: 'NotFoundError' });
    await store.close();
    const db = await settled(indexedDB.open(name));
    expect([...db.objectStoreNames]).toEqual(['theirs']);
    db.close();
  });
});

test('records of a newer version come back with all their fields', async ({ database: name }) => {
  await plantInDatabase(name, 'a', record('a', { v: 99, bytes: new Uint8Array([1, 2, 3]) }));
  expect(await indexedDbStore({ name }).read('a')).toEqual(record('a', { v: 99, bytes: new Uint8Array([1, 2, 3]) }));
});

describe('an empty database of its name, which other code has opened once', () => {
  test('gets its tables', async ({ database: name }) => {
    (await settled(indexedDB.open(name))).close();
    const stores = [indexedDbStore({ name }), indexedDbStore({ name })];
    await Promise.all(stores.map((store, n) => put(store, record(`r${n}`))));
    for (const store of stores) expect(await store.read('r0')).toEqual(record('r0'));
    expect((await stores[1]?.scan({ ns: 'ns', state: 'pending', limit: 9 }))?.records).toEqual([record('r0'), record('r1')]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('works after that code has closed it; until then calls reject as blocked', async ({ database: name }) => {
    const theirs = await settled(indexedDB.open(name));
    const store = indexedDbStore({ name, openTimeoutMs: 200 });
    await expect(put(store, record('a'))).rejects.toMatchObject({ name: 'StoreFault', reason: 'blocked' });
    theirs.close();
    // A busy disk may take longer to open the database than this store waits.
    await expect.poll(() => put(store, record('a')).then(() => 'stored', String), { timeout: 15_000 }).toBe('stored');
    expect(await store.read('a')).toEqual(record('a'));
    await store.close();
  });
});
