/**
 * Goal: React Native's stores keep the store contract, and pass on the error of a storage that fails. Method: models of the
 * packages; `test/react-native` runs the same contract on the packages themselves.
 */
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createOnce, outcomeOf, pending } from '../../src/entries/node.js';
import type { Store } from '../../src/ports.js';
import type { PairsOptions } from '../../src/stores/key-value-base.js';
import { type AsyncStorageLike, asyncStorageStore } from '../../src/stores/react-native/async-storage.js';
import { type KvStoreLike, kvStoreStore } from '../../src/stores/react-native/kv-store.js';
import { mmkvStore } from '../../src/stores/react-native/mmkv.js';
import { put, record, remove } from '../../src/testing/contract/bench.js';
import { idempotentServer } from '../../src/testing/idempotent-server.js';
import { storeContract } from '../../src/testing/store-contract.js';
import { asyncStorage, type Disk, disk, kvStore, mmkv } from './app-storages.js';

const KINDS: Record<string, { storage: (at: Disk) => unknown; store: (storage: unknown, options?: PairsOptions) => Store }> = {
  'AsyncStorage 2': { storage: (at) => asyncStorage(at, 2), store: asyncStorageStore as never },
  'AsyncStorage 3': { storage: (at) => asyncStorage(at, 3), store: asyncStorageStore as never },
  MMKV: { storage: (at) => mmkv(at), store: mmkvStore as never },
  'kv-store': { storage: kvStore, store: kvStoreStore as never },
};

describe.each(Object.entries(KINDS))('%s', (name, { storage, store: open }) => {
  const media = new Map<string, { readonly at: Disk; readonly storage: unknown }>();
  // An app has one storage, and its stores share it.
  const mediumOf = (medium: string) => {
    const at = disk();
    const known = media.get(medium) ?? { at, storage: storage(at) };
    media.set(medium, known);
    return known;
  };
  const report = storeContract({
    name,
    test,
    open: (medium) => open(mediumOf(medium).storage),
    plant: (medium, id, value) => void mediumOf(medium).at.pairs.set(`oncefetch/${id}`, JSON.stringify(value)),
    work: () => [...media.values()].reduce((calls, { at }) => calls + at.calls, 0),
  });
  afterAll(() => expect(report.left).toEqual([]));

  test('keeps stores apart if one prefix begins with the other', async () => {
    const own = storage(disk());
    const [all, eu] = [open(own, { prefix: 'shop' }), open(own, { prefix: 'shop/eu' })];
    await put(all, record('a'));
    await put(eu, record('b'));
    await put(eu, record('a', { body: 'theirs' }));
    for (const query of [{ ns: 'ns', state: 'pending', limit: 9 } as const, { before: 9e15, limit: 9 }]) {
      expect((await all.scan(query)).records).toEqual([record('a')]);
      expect((await eu.scan(query)).records).toHaveLength(2);
    }
  });

  test('leaves other keys of the app alone', async () => {
    const at = disk();
    at.pairs.set('theirs', 'not ours');
    at.pairs.set('oncefetchers/x', JSON.stringify(record('x')));
    const store = open(storage(at));
    await put(store, record('a'));
    expect((await store.scan({ ns: 'ns', state: 'pending', limit: 9 })).records).toEqual([record('a')]);
    await remove(store, 'a');
    expect([...at.pairs.keys()]).toEqual(['theirs', 'oncefetchers/x']);
  });

  test('keeps the records of two prefixes apart, and gives the two stores different scopes', async () => {
    const at = disk();
    const shared = storage(at);
    const [one, two] = [open(shared, { prefix: 'one' }), open(shared, { prefix: 'two' })];
    await put(one, record('a'));
    expect(await two.read('a')).toBeUndefined();
    expect(one.scope).not.toBe(two.scope);
  });

  test.each([
    [new Error('database or disk is full (code 13 SQLITE_FULL)'), 'quota'],
    [new Error('disk I/O error'), 'io'],
    ['no error at all', 'io'],
  ])('passes on a failure of the storage: %s', async (thrown, reason) => {
    const at = disk();
    const store = open(storage(at));
    at.failing = thrown;
    for (const call of [() => put(store, record('a')), () => store.read('a'), () => store.scan({ before: 1, limit: 1 })])
      await expect(call()).rejects.toMatchObject({ name: 'StoreFault', reason, cause: thrown });
    at.failing = undefined;
    await put(store, record('a'));
    expect(await store.read('a')).toEqual(record('a'));
  });
});

test('a storage that lacks a method is refused at once, and the error names the method', () => {
  expect(() => asyncStorageStore({} as never)).toThrow(new TypeError('once: AsyncStorage must have a method getItem'));
  expect(() => mmkvStore({ getString() {}, set() {} } as never)).toThrow(new TypeError('once: mmkv must have a method remove'));
  expect(() => kvStoreStore(undefined as never)).toThrow(new TypeError('once: kvStore must have a method getItemAsync'));
});

test('an empty value in the kv-store, which an interrupted removal leaves, counts as absent', async () => {
  const at = disk();
  at.pairs.set('oncefetch/a', '');
  const store = kvStoreStore(kvStore(at));
  expect(await store.read('a')).toBeUndefined();
  expect(await store.update('a', (current) => ({ next: record('a'), value: current }))).toBeUndefined();
  expect(await store.read('a')).toEqual(record('a'));
});

describe('kv-store, whose database the app and its screens read and write while a customer pays', () => {
  const url = 'https://shop.example/pay';
  const meanwhile = async (work: () => Promise<unknown>, until: Promise<unknown>): Promise<void> => {
    let over = false;
    void until.finally(() => (over = true));
    while (!over) await work().catch(() => {});
  };

  test.each<[string, (kv: KvStoreLike, at: Store) => Promise<unknown>]>([
    ['the app reads an entry of its own', (kv) => kv.getItemAsync('theme')],
    ['the app writes an entry of its own', (kv) => (kv as unknown as { setItemAsync(key: string, text: string): Promise<void> }).setItemAsync('theme', 'dark')],
    ['a screen lists what is open', (_, store) => store.scan({ ns: 'ns', state: 'pending', limit: 9 })],
    ['another client of the app pays, too', (kv) => put(kvStoreStore(kv, { prefix: 'other' }), record('a'))],
  ])('%s: the record is on the disk, and after a relaunch the key is the same', async (_, work) => {
    const kv = kvStore(disk());
    const server = idempotentServer({ url });
    const pay = async () => {
      const once = createOnce({ store: kvStoreStore(kv), fetch: server.fetch, limits: { attempts: 1 } });
      return outcomeOf(await once.fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error));
    };
    server.faults.next('lose-response');
    const lost = pay();
    await meanwhile(() => work(kv, kvStoreStore(kv)), lost);
    expect(await lost).toMatchObject({ effect: 'unknown', storedIn: 'disk' });
    expect(await pay()).toMatchObject({ effect: 'done', resumed: true });
    expect(server.effects).toHaveLength(1);
  });

  test.each([0, 200])('a database that stays locked, and says so after %i ms, ends the call after some seconds, with the reason blocked', async (ms) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const setItemAsync = async (): Promise<never> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      throw new Error('database is locked');
    };
    const ended = put(kvStoreStore({ ...kvStore(disk()), setItemAsync }), record('a')).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await Promise.race([ended, 'still at it'])).toMatchObject({ name: 'StoreFault', reason: 'blocked' });
  });

  test('a read that never comes back stops those behind it for ten seconds only', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const bare = kvStore(disk());
    let reads = 0;
    const store = kvStoreStore({ ...bare, getItemAsync: (key) => (++reads === 1 ? new Promise(() => {}) : bare.getItemAsync(key)) });
    const hangs = store.read('a').catch((error: unknown) => error);
    const behind = put(store, record('a'));
    await vi.advanceTimersByTimeAsync(10_100);
    expect(await hangs).toMatchObject({ name: 'StoreFault' });
    await behind;
    vi.useRealTimers();
    expect(await bare.getAllKeysAsync()).toHaveLength(1);
  });

  test('a removal whose transaction ends after its turn does not remove the record that came after it', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const bare = kvStore(disk());
    let end = (): void => {};
    const late = new Promise<void>((resolve) => (end = resolve));
    // It has committed, but the app sleeps before it hears of that.
    const setItemAsync: KvStoreLike['setItemAsync'] = (key, write) => bare.setItemAsync(key, write).then(() => late);
    const filled = put(kvStoreStore(bare), record('a'));
    await vi.advanceTimersByTimeAsync(100);
    await filled;
    const removal = remove(kvStoreStore({ ...bare, setItemAsync }), 'a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_100);
    expect(await removal).toMatchObject({ name: 'StoreFault' });
    const next = put(kvStoreStore(bare), record('a', { body: 'next' }));
    await vi.advanceTimersByTimeAsync(100);
    await next;
    end();
    await vi.advanceTimersByTimeAsync(100);
    vi.useRealTimers();
    expect(await kvStoreStore(bare).read('a')).toEqual(record('a', { body: 'next' }));
  });

  test('a removal that failed because of a lock removes nothing if its change no longer wants it when it is tried again', async () => {
    const bare = kvStore(disk());
    let tries = 0;
    const setItemAsync: KvStoreLike['setItemAsync'] = async (key, write) => {
      if (tries > 0) return bare.setItemAsync(key, write);
      write(await bare.getItemAsync(key));
      throw new Error('database is locked');
    };
    await put(kvStoreStore(bare), record('a'));
    await kvStoreStore({ ...bare, setItemAsync }).update('a', () => ({ ...(tries++ === 0 && { next: null }), value: undefined }));
    expect([tries, await kvStoreStore(bare).read('a')]).toEqual([2, record('a')]);
  });

  test('a removal is tried again by the store itself, without a second call of its change', async () => {
    const bare = kvStore(disk());
    let refused = 0;
    const removeItemAsync = async (key: string) => (++refused < 3 ? Promise.reject(new Error('database is locked')) : bare.removeItemAsync(key));
    const store = kvStoreStore({ ...bare, removeItemAsync });
    await put(store, record('a'));
    const seen: unknown[] = [];
    await store.update('a', (current) => ({ next: null, value: seen.push(current) }));
    expect([refused, seen, await bare.getAllKeysAsync()]).toEqual([3, [record('a')], []]);
  });
});

test('two MMKV stores with one id have one scope, although they got two objects', () => {
  const named = (id: string) => mmkvStore(mmkv(disk(), id)).scope;
  expect(named('a')).toBe(named('a'));
  expect(named('a')).not.toBe(named('b'));
});

test('two MMKV instances with one id in two folders, each with its own prefix, share no records: each customer is charged', async () => {
  const server = idempotentServer({ url: 'https://shop.example/pay' });
  const customers = ['ann', 'bob'].map((prefix) => createOnce({ store: mmkvStore(mmkv(disk(), 'oncefetch'), { prefix }), fetch: server.fetch }));
  await Promise.all(customers.map((once) => once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] })));
  expect(server.effects).toHaveLength(2);
});

test('AsyncStorage that loses every write: a payment with durability required is not sent, and a best-effort one goes on in memory', async () => {
  const empty: AsyncStorageLike = { ...asyncStorage(disk(), 2), setItem: async () => {} };
  const server = idempotentServer({ url: 'https://shop.example/pay' });
  const pay = async (durability: 'required' | 'best-effort') => {
    const once = createOnce({ store: asyncStorageStore(empty), fetch: server.fetch, durability });
    return outcomeOf(await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', durability] }).catch((error: unknown) => error));
  };
  expect(await pay('required')).toMatchObject({ type: 'unsent', reason: 'store-write' });
  expect(server.effects).toEqual([]);
  expect(await pay('best-effort')).toMatchObject({ effect: 'done', storedIn: 'memory' });
});

test.each([2, 3] as const)(
  'AsyncStorage %i: a scan finds the stored records in any order of the storage, and leaves out one that is removed while it reads',
  async (version) => {
    const at = disk();
    const storage = asyncStorage(at, version);
    const store = asyncStorageStore(storage);
    for (const id of ['a', 'b', 'c']) await put(store, record(id));
    const { getMany, multiGet } = storage;
    /** The keys as a database might order them: stored ones in reverse order, then absent ones. */
    const asFound = (keys: string[]): string[] =>
      [...keys].sort((one, other) => Number(at.pairs.has(other)) - Number(at.pairs.has(one)) || (one < other ? 1 : -1));
    const meanwhile = (keys: string[]): string[] => {
      at.pairs.delete('oncefetch/a');
      return asFound(keys);
    };
    if (getMany) storage.getMany = (keys) => getMany(meanwhile(keys));
    if (multiGet) storage.multiGet = (keys) => multiGet(meanwhile(keys));
    expect((await store.scan({ ns: 'ns', state: 'pending', limit: 9 })).records).toEqual([record('b'), record('c')]);
  },
);

test('AsyncStorage: the next update waits for a write that hangs, so the late write overwrites nothing newer', async () => {
  const storage = asyncStorage(disk(), 2) as { setItem(key: string, value: string): Promise<void> };
  const { setItem } = storage;
  let goOn = (): void => {};
  const hanging = new Promise<void>((done) => void (goOn = done));
  let writes = 0;
  storage.setItem = async (key, value) => {
    if (++writes === 1) await hanging;
    return setItem.call(storage, key, value);
  };
  const store = asyncStorageStore(storage as never);
  const late = put(store, record('a', { count: 1 }));
  const seen: unknown[] = [];
  const next = store.update('a', (current) => ({ next: record('a', { count: 2 }), value: seen.push(current) }));
  await new Promise((done) => setTimeout(done, 20));
  expect([writes, seen]).toEqual([1, []]);
  goOn();
  await Promise.all([late, next]);
  expect([seen, await store.read('a')]).toEqual([[record('a', { count: 1 })], record('a', { count: 2 })]);
});

test('AsyncStorage on Android: a request that could not be read again is not stored, and hides no other operation', async () => {
  const ANDROID_READS = 2 * 1024 * 1024;
  const bare = asyncStorage(disk(), 2);
  const read = (text: string | null): string | null => {
    if (text !== null && text.length > ANDROID_READS) throw new Error('Row too big to fit into CursorWindow requiredPos=0, totalRows=1');
    return text;
  };
  const android: AsyncStorageLike = {
    ...bare,
    getItem: async (key) => read(await bare.getItem(key)),
    multiGet: async (keys) => ((await bare.multiGet?.(keys)) ?? []).map(([key, text]) => [key, read(text)] as const),
  };
  const server = idempotentServer({ url: 'https://shop.example/pay' });
  const once = createOnce({ store: asyncStorageStore(android), fetch: server.fetch, keep: { request: true }, limits: { attempts: 1 } });
  const pay = async (id: string, body: string) =>
    outcomeOf(await once.fetch('https://shop.example/pay', { method: 'POST', body, once: ['pay', id] }).catch((error: unknown) => error))?.effect;
  server.faults.next('lose-response', 'lose-response');
  expect([await pay('photo', 'x'.repeat(3_000_000)), await pay('cart', '{}')]).toEqual(['unknown', 'unknown']);
  expect((await pending(once)).map(({ name, resumable }) => [name, resumable])).toEqual([
    [['pay', 'cart'], true],
    [['pay', 'photo'], true],
  ]);
  expect(await pay('photo', 'x'.repeat(3_000_000))).toBe('done');
  expect(server.effects).toHaveLength(2);
});
