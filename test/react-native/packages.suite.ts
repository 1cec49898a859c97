/**
 * Goal: the stores keep their contract on the packages that apps use. Method: each package's own JavaScript over models
 * of its native modules: an SQLite table for AsyncStorage and kv-store. MMKV is all native, so its own mock replaces
 * it.
 */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { build } from 'esbuild';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../src/ports.js';
import { asyncStorageStore } from '../../src/stores/react-native/async-storage.js';
import { type KvStoreLike, kvStoreStore } from '../../src/stores/react-native/kv-store.js';
import { mmkvStore } from '../../src/stores/react-native/mmkv.js';
import { storeContract } from '../../src/testing/store-contract.js';

const here = import.meta.dirname;
const temporary = join(here, '../../.tmp/react-native');
mkdirSync(temporary, { recursive: true });
const folder = mkdtempSync(join(temporary, 'packages-'));
const natives: Record<string, unknown> = {};
Object.assign(globalThis, { __natives: natives });

/** The parts of React Native that the packages use: their native module, and the name of the system. */
const REACT_NATIVE = `const get = (name) => globalThis.__natives[name] ?? null;
export const TurboModuleRegistry = { get, getEnforcing: get }; export const NativeModules = {}; export const Platform = { OS: 'android', select: (all) => all.android ?? all.default };`;

/** Bundles the package's own file into one that Node can load. Each medium loads it again, because each app has its own copy. */
async function packaged(name: string, path: string, stubs: Record<string, string> = {}): Promise<string> {
  const found = [join(here, 'apps/0.88/node_modules', path), join(here, 'apps/expo-57/node_modules', path), join(here, 'node_modules', path)].find((one) =>
    existsSync(one),
  );
  if (found === undefined) throw new Error(`${path} is not installed`);
  const outfile = join(folder, `${name}.cjs`);
  await build({
    entryPoints: [found],
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'neutral',
    mainFields: ['main'],
    logLevel: 'silent',
    plugins: [
      {
        name: 'natives',
        setup({ onResolve, onLoad }) {
          const all: Record<string, string> = { 'react-native': REACT_NATIVE, ...stubs };
          onResolve({ filter: /.*/ }, ({ path: asked }) => (asked in all ? { path: asked, namespace: 'native' } : undefined));
          onLoad({ filter: /.*/, namespace: 'native' }, ({ path: asked }) => ({ contents: all[asked] ?? '', loader: 'js' }));
        },
      },
    ],
  });
  return outfile;
}

const require = createRequire(import.meta.url);
const fresh = <T>(file: string): T => {
  delete require.cache[file];
  return require(file) as T;
};

/** Without flushes to the disk, because these tests simulate no power cut. */
const openFile = (name: string): DatabaseSync => {
  const opened = new DatabaseSync(join(folder, `${name}.db`));
  opened.exec('PRAGMA synchronous = OFF');
  return opened;
};

/** One database per name, as the system keeps files. */
const databases = new Map<string, DatabaseSync>();
let calls = 0;
function database(name: string): DatabaseSync {
  const known = databases.get(name) ?? openFile(name);
  if (!databases.has(name)) known.exec('CREATE TABLE IF NOT EXISTS storage (key TEXT PRIMARY KEY NOT NULL, value TEXT)');
  databases.set(name, known);
  return known;
}
const all = (name: string, sql: string, ...values: SQLInputValue[]) => {
  calls++;
  return database(name)
    .prepare(sql)
    .all(...values) as { key: string; value: string }[];
};
const SET = 'INSERT INTO storage VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value';
const later = <T>(work: () => T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(work())));

/** The native module of AsyncStorage 3. */
natives['RNAsyncStorage'] = {
  getValues: (db: string, keys: string[]) =>
    later(() => keys.map((key) => ({ key, value: all(db, 'SELECT value FROM storage WHERE key = ?', key)[0]?.value ?? null }))),
  setValues: (db: string, values: { key: string; value: string }[]) => later(() => values.map(({ key, value }) => all(db, SET, key, value))),
  removeValues: (db: string, keys: string[]) => later(() => keys.map((key) => all(db, 'DELETE FROM storage WHERE key = ?', key))),
  getKeys: (db: string) => later(() => all(db, 'SELECT key FROM storage').map(({ key }) => key)),
};

/** The native module of AsyncStorage 2, which takes callbacks. */
const legacy = (db: string) => {
  const v3 = natives['RNAsyncStorage'] as Record<string, (db: string, given?: unknown) => Promise<{ key: string; value: string | null }[]>>;
  type Done = (errors: null, found?: unknown) => void;
  return {
    multiGet: (keys: string[], done: Done) =>
      void v3['getValues']!(db, keys).then((found) =>
        done(
          null,
          found.map(({ key, value }) => [key, value]),
        ),
      ),
    multiSet: (pairs: [string, string][], done: Done) =>
      void v3['setValues']!(
        db,
        pairs.map(([key, value]) => ({ key, value })),
      ).then(() => done(null)),
    multiRemove: (keys: string[], done: Done) => void v3['removeValues']!(db, keys).then(() => done(null)),
    getAllKeys: (done: Done) => void v3['getKeys']!(db).then((keys) => done(null, keys)),
  };
};

/** expo-sqlite's `openDatabaseAsync`, with its exclusive transaction: a connection of its own, BEGIN, COMMIT or ROLLBACK. */
let transactions = 0;
function expoSqlite() {
  const open = (name: string, connection = openFile(name)) => {
    const run = (sql: string, values: SQLInputValue[]) => {
      calls++;
      return connection.prepare(sql).all(...values) as { value: string }[];
    };
    const one = {
      execAsync: (sql: string) => later(() => connection.exec(sql)),
      getFirstAsync: async (sql: string, ...values: SQLInputValue[]) => (await later(() => run(sql, values)))[0] ?? null,
      getFirstSync: (sql: string, ...values: SQLInputValue[]) => run(sql, values)[0] ?? null,
      getAllAsync: (sql: string, ...values: SQLInputValue[]) => later(() => run(sql, values)),
      runAsync: (sql: string, ...values: SQLInputValue[]) =>
        later(() => {
          calls++;
          return connection.prepare(sql).run(...values);
        }),
      closeAsync: () => later(() => connection.close()),
      async withTransactionAsync(task: () => Promise<void>) {
        await one.execAsync('BEGIN');
        await task();
        await one.execAsync('COMMIT');
      },
      async withExclusiveTransactionAsync(task: (tx: unknown) => Promise<void>) {
        const tx = open(name);
        transactions++;
        let error: unknown;
        try {
          await tx.execAsync('BEGIN');
          await task(tx);
          await tx.execAsync('COMMIT');
        } catch (thrown) {
          await tx.execAsync('ROLLBACK');
          error = thrown;
        } finally {
          await tx.closeAsync();
        }
        if (error) throw error;
      },
    };
    return one;
  };
  return { openDatabaseAsync: async (name: string) => open(name) };
}
natives['expo-sqlite'] = expoSqlite();

const [v2, v3, mmkv, storage] = await Promise.all([
  packaged('async-storage-2', '../../../node_modules/@react-native-async-storage/async-storage/lib/module/AsyncStorage.native.js'),
  packaged('async-storage-3', '@react-native-async-storage/async-storage/lib/module/createAsyncStorage.native.js'),
  packaged('mmkv', 'react-native-mmkv/lib/createMMKV/createMockMMKV.js'),
  packaged('kv-store', 'expo-sqlite/build/Storage.js', {
    './index': `export const { openDatabaseAsync, openDatabaseSync } = globalThis.__natives['expo-sqlite'];`,
  }),
]);

/** Each medium has one storage, as an app has; a second store on it shares that one. */
const once = <T>(make: (medium: string) => T): ((medium: string) => T) => {
  const made = new Map<string, T>();
  return (medium) => made.get(medium) ?? (made.set(medium, make(medium)).get(medium) as T);
};

const asyncStorage2 = once((medium) => {
  natives['RNCAsyncStorage'] = legacy(medium);
  return fresh<{ default: never }>(v2).default;
});
const asyncStorage3 = (medium: string) => fresh<{ createAsyncStorage(name: string): never }>(v3).createAsyncStorage(medium);
const mock = once((medium) => fresh<{ createMockMMKV(options: object): never }>(mmkv).createMockMMKV({ id: medium }));
const kv = (medium: string) => new (fresh<{ SQLiteStorage: new (name: string) => KvStoreLike }>(storage).SQLiteStorage)(medium);

const KINDS: Record<string, { open: (medium: string) => Store; plant: (medium: string, key: string, text: string) => unknown; counts: boolean }> = {
  '@react-native-async-storage/async-storage 2': {
    open: (medium) => asyncStorageStore(asyncStorage2(medium)),
    plant: (medium, key, text) => all(medium, SET, key, text),
    counts: true,
  },
  '@react-native-async-storage/async-storage 3': {
    open: (medium) => asyncStorageStore(asyncStorage3(medium)),
    plant: (medium, key, text) => all(medium, SET, key, text),
    counts: true,
  },
  'react-native-mmkv 4 (its own mock)': {
    open: (medium) => mmkvStore(mock(medium)),
    plant: (medium, key, text) => (mock(medium) as { set(key: string, text: string): void }).set(key, text),
    counts: false,
  },
  'expo-sqlite 57, kv-store': { open: (medium) => kvStoreStore(kv(medium)), plant: (medium, key, text) => all(medium, SET, key, text), counts: true },
};

describe.each(Object.entries(KINDS))('%s', (name, { open, plant, counts }) => {
  const report = storeContract({
    name,
    test,
    open,
    plant: (medium, id, value) => void plant(medium, `oncefetch/${id}`, JSON.stringify(value)),
    ...(counts && { work: () => calls }),
  });
  afterAll(() => expect(report.left.map(({ because }) => because)).toEqual(counts ? [] : ['no `work` was given']));
});

/** With separate reads and writes, another update between the two would be lost. */
test('expo-sqlite 57, kv-store: an update reads and writes in one exclusive transaction', async () => {
  const kvStore = kv('exclusive');
  const reads = vi.spyOn(kvStore, 'getItemAsync');
  const next = { id: 'a', ns: 'n', state: 'pending', label: 'l', forgetAt: 0 } as const;
  const before = transactions;
  await kvStoreStore(kvStore).update('a', () => ({ next, value: undefined }));
  expect(transactions - before).toBe(1);
  expect(reads).not.toHaveBeenCalled();
  expect(await kvStore.getItemAsync('oncefetch/a')).toContain('"label":"l"');
});
