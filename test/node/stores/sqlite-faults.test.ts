/**
 * Goal: whatever is wrong with the file, a call ends soon, says what is wrong, and leaves the file as it was.
 * Method: real files that are locked, full, read-only, damaged, foreign or newer.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock } from 'node:test';
import { afterAll, afterEach, test as anyTest, describe, expect, vi } from 'vitest';
import { createOnce } from '../../../src/entries/index.js';
import type { Store, Stored } from '../../../src/ports.js';
import { firstAvailable } from '../../../src/stores/browser/first-available.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { sqliteFault } from '../../../src/stores/sqlite/fault.js';
import { type SqliteStatement, type SqliteStoreOptions, sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { script } from '../../support/child.js';
import { put, record } from '../../support/stored.js';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-faults-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const fresh = (): string => join(folder, `${files++}.db`);
const open: Store[] = [];
const storeOn = (options: SqliteStoreOptions): Store => {
  const store = sqliteStore(options);
  open.push(store);
  return store;
};
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((store) => store.close()));
});

const everyCall = (store: Store): (readonly [string, () => Promise<unknown>])[] => [
  ['update', () => put(store, 'x')],
  ['read', () => store.read('x')],
  ['scan', () => store.scan({ ns: 'ns', state: 'pending', limit: 1 })],
  ['sweep', () => store.scan({ before: 1, limit: 1 })],
  ['available', async () => store.available?.()],
];
/** Where Linux lists the files that a process has open. */
const OPEN_FILES = '/proc/self/fd';
/** Real timers, whatever a test installs. */
const { setTimeout: realTimeout } = globalThis;
const within = (ms: number): Promise<string> => new Promise((resolve) => void realTimeout(() => resolve(`not within ${ms} ms`), ms));
const rejectAll = async (store: Store, reason: string): Promise<void> => {
  for (const [name, call] of everyCall(store)) await expect(call(), name).rejects.toMatchObject({ name: 'StoreFault', reason });
};

/** A file with one record in it, which no store has open. */
async function filled(): Promise<string> {
  const path = fresh();
  const store = sqliteStore({ path });
  await put(store, 'a');
  await store.close();
  return path;
}

const test = anyTest
  .extend('path', () => filled())
  // Another connection to the file.
  .extend('other', ({ path }, { onCleanup }) => {
    const other = new DatabaseSync(path);
    onCleanup(() => {
      if (other.isOpen) other.close();
    });
    return other;
  });

describe('locked', () => {
  test('by another connection forever: an update rejects with blocked at the time limit, and the event loop stays free meanwhile', async ({ path, other }) => {
    other.exec('BEGIN IMMEDIATE');
    const store = storeOn({ path, busyTimeoutMs: 1500 });
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const start = performance.now();
    await expect(put(store, 'b')).rejects.toMatchObject({ reason: 'blocked' });
    clearInterval(ticking);
    expect(performance.now() - start).toBeLessThan(15_000);
    expect(turns).toBeGreaterThan(5);
    expect(await store.read('a')).toEqual(record('a'));
    other.exec('ROLLBACK');
    expect(await put(store, 'b')).toBe('stored');
  });

  test('for a while: updates wait, and those of one record keep their order', async ({ path, other }) => {
    other.exec('BEGIN IMMEDIATE');
    const store = storeOn({ path });
    const order: number[] = [];
    const raise = (n: number) =>
      store.update('a', (now) => ({ next: { ...(now as Stored), label: `${(now as Stored).label}${n}` }, value: n })).then((value) => order.push(value));
    const all = [raise(1), raise(2)];
    await new Promise((done) => setTimeout(done, 60));
    all.push(raise(3));
    other.exec('COMMIT');
    await Promise.all(all);
    expect(order).toEqual([1, 2, 3]);
    expect(await store.read('a')).toMatchObject({ label: '["a"]123' });
  });

  test('for a while, on a connection with a long busy_timeout of its owner: the event loop stays free, and the setting stays', async ({ path, other }) => {
    const database = new DatabaseSync(path, { timeout: 20_000 });
    const store = storeOn({ database });
    other.exec('BEGIN IMMEDIATE');
    // A blocked event loop would never run this timer.
    setTimeout(() => other.exec('COMMIT'), 100);
    const begun = performance.now();
    await put(store, 'b');
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 20_000 });
    other.close();
    database.close();
  });

  test('against reading as well: every call rejects with blocked', async ({ path, other }) => {
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT; BEGIN EXCLUSIVE');
    await rejectAll(storeOn({ path, busyTimeoutMs: 50 }), 'blocked');
  });

  test('against reading while the store is closed: the waiting read rejects with closed, and does not open the file again', async ({ path }) => {
    let left = 0;
    class Counted extends DatabaseSync {
      constructor(at: string) {
        super(at);
        left++;
      }
      override close(): void {
        super.close();
        left--;
      }
    }
    const store = sqliteStore({ path, Database: Counted, busyTimeoutMs: 2000 });
    const other = new DatabaseSync(path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT; BEGIN EXCLUSIVE');
    const read = store.read('a').catch((fault) => fault.reason);
    await store.close();
    other.close();
    expect([await read, left]).toEqual(['closed', 0]);
  });

  test('by an open transaction of its owner: the store writes nothing into that transaction', async () => {
    const database = new DatabaseSync(fresh());
    const store = storeOn({ database, busyTimeoutMs: 500 });
    await put(store, 'a');
    database.exec('CREATE TABLE theirs (x); BEGIN; INSERT INTO theirs VALUES (1)');
    const update = put(store, 'b');
    await new Promise((done) => setTimeout(done, 50));
    database.exec('ROLLBACK');
    expect(await update).toBe('stored');
    expect(await store.read('b')).toEqual(record('b'));
    expect(database.prepare('SELECT count(*) AS n FROM theirs').get()).toEqual({ n: 0 });
    database.exec('BEGIN');
    await expect(put(store, 'c')).rejects.toMatchObject({ reason: 'blocked' });
    database.exec('COMMIT');
    expect(await store.read('c')).toBeUndefined();
    database.close();
  });

  test('by an open transaction of its owner: a record that another process has stored since is not called absent', async () => {
    const path = fresh();
    const other = storeOn({ path });
    await put(other, 'a');
    const database = new DatabaseSync(path);
    const store = storeOn({ database, busyTimeoutMs: 500 });
    await store.read('a');
    database.exec('BEGIN; SELECT count(*) FROM oncefetch_records');
    await put(other, 'b');
    await expect(store.read('b')).rejects.toMatchObject({ reason: 'blocked' });
    database.exec('COMMIT');
    expect(await store.read('b')).toEqual(record('b'));
    database.close();
  });
});

test('full: an update that does not fit rejects with quota; others of the same turn are stored, and stored records stay', async () => {
  const database = new DatabaseSync(fresh());
  const store = storeOn({ database });
  await put(store, 'a');
  database.exec('PRAGMA max_page_count = 20');
  const results = await Promise.allSettled([put(store, 'b'), put(store, record('big', { body: 'x'.repeat(200_000) })), put(store, 'c')]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.reason))).toEqual(['stored', 'quota', 'stored']);
  expect([await store.read('a'), await store.read('big'), await store.read('c')]).toEqual([record('a'), undefined, record('c')]);
  database.close();
});

test.each([
  { errcode: 4874, message: 'disk I/O error' },
  { code: 'SQLITE_IOERR_SHMSIZE', message: 'disk I/O error' },
])('full, so that SQLite cannot make the file beside its log: calls reject with quota: %j', async (thrown) => {
  // Only a disk of its own can be filled here: this is what SQLite says on one, by node:sqlite and by better-sqlite3.
  const database = new DatabaseSync(fresh());
  vi.spyOn(database, 'prepare').mockImplementation(() => {
    throw Object.assign(new Error(thrown.message), thrown);
  });
  const call = put(storeOn({ database }), 'a');
  await expect(call).rejects.toMatchObject({ reason: 'quota' });
  database.close();
});

// What better-sqlite3 and node:sqlite say if the file was moved away: the reason is that of READONLY.
test.each([
  { code: 'SQLITE_READONLY_DBMOVED', message: 'attempt to write a readonly database' },
  { errcode: 1032, message: 'attempt to write a readonly database' },
])('an extended code has the reason of its primary one: %j', async (thrown) => {
  const database = new DatabaseSync(fresh());
  vi.spyOn(database, 'prepare').mockImplementation(() => {
    throw Object.assign(new Error(thrown.message), thrown);
  });
  await expect(put(storeOn({ database }), 'a')).rejects.toMatchObject({ reason: 'denied' });
  database.close();
});

test("a test's fake timers do not hold up the store, which has only a file to wait for", async () => {
  const store = storeOn({ path: fresh() });
  vi.useFakeTimers();
  const ends = await Promise.allSettled([put(store, 'a'), put(store, 'b', 'relaxed')]).finally(() => vi.useRealTimers());
  expect(ends).toMatchObject([{ value: 'stored' }, { value: 'stored' }]);
});

test('nor while it waits for the lock of another connection', async () => {
  const path = fresh();
  const store = storeOn({ path });
  await put(store, 'a');
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  vi.useFakeTimers();
  const waiting = put(store, 'b');
  realTimeout(() => other.exec('COMMIT'), 50);
  expect(await Promise.race([waiting, within(5000)]).finally(() => vi.useRealTimers())).toBe('stored');
  other.close();
});

test.for([
  ['sinon, as in Vitest and Jest', () => vi.useFakeTimers(), () => vi.useRealTimers()],
  ["Node's test runner", () => mock.timers.enable(), () => mock.timers.reset()],
  ['sinon, only setTimeout', () => vi.useFakeTimers({ toFake: ['setTimeout'] }), () => vi.useRealTimers()],
  ["Node's test runner, only setTimeout", () => mock.timers.enable({ apis: ['setTimeout'] }), () => mock.timers.reset()],
] as const)('nor if they were installed before the store was imported, as by the configuration of a runner: %s', async ([, install, restore]) => {
  vi.resetModules();
  install();
  const path = fresh();
  let other: DatabaseSync | undefined;
  const first = await Promise.race([
    import('../../../src/stores/sqlite/sqlite.js').then(async (late) => {
      const store = late.sqliteStore({ path });
      open.push(store);
      await put(store, 'a');
      other = new DatabaseSync(path);
      other.exec('BEGIN IMMEDIATE');
      realTimeout(() => other?.exec('COMMIT'), 50);
      return Promise.allSettled([put(store, 'b'), put(store, 'c', 'relaxed'), store.read('a')]);
    }),
    within(5000),
  ]).finally(() => {
    restore();
    // Other files of this worker must not get the modules that have seen fake timers.
    vi.resetModules();
  });
  other?.close();
  expect(first).toMatchObject([{ value: 'stored' }, { value: 'stored' }, { value: record('a') }]);
});

describe('read-only', () => {
  test('a value that JSON cannot express is refused, and other updates of the same turn are stored', async () => {
    const store = storeOn({ path: fresh() });
    const ends = await Promise.allSettled([put(store, 'a'), put(store, record('b', { count: 1n })), put(store, 'c')]);
    expect(ends).toMatchObject([{ value: 'stored' }, { reason: { name: 'TypeError' } }, { value: 'stored' }]);
    expect(await Promise.all(['a', 'b', 'c'].map((id) => store.read(id)))).toEqual([record('a'), undefined, record('c')]);
  });

  test('by its connection: updates reject with denied, and records can still be read', async ({ path }) => {
    const database = new DatabaseSync(path, { readOnly: true });
    const store = storeOn({ database });
    await expect(put(store, 'b')).rejects.toMatchObject({ reason: 'denied' });
    expect(await store.read('a')).toEqual(record('a'));
    expect(await store.available?.()).toBe(true);
    database.close();
  });

  test('by its permissions, for a user who may not write: calls reject with denied, and no other store takes its place', async ({ skip, path }) => {
    if (process.getuid?.() !== 0) skip('only root can start a process as another user');
    chmodSync(path, 0o444);
    const probe = script(join(import.meta.dirname, 'sqlite-probe.ts'));
    chmodSync(join(probe.path, '..'), 0o755);
    const child = probe.start([path], 65_534);
    expect(await child.ended).toBe(0);
    // SQLite needs a file beside a write-ahead log even to read it. `automatic` shows that the chain has chosen no store.
    expect(JSON.parse(child.lines.join(''))).toEqual({ read: 'denied', update: 'denied', chosen: 'automatic' });
    probe.remove();
  });
});

describe('not what it should be', () => {
  const notes = 'These are my notes, and no database. '.repeat(100);

  test('a text file: calls reject with corrupt, and the file stays as it is', async () => {
    const path = fresh();
    writeFileSync(path, notes);
    await rejectAll(storeOn({ path }), 'corrupt');
    expect(readFileSync(path, 'utf8')).toBe(notes);
  });

  test('a folder, or a file in a folder that does not exist: calls reject with io', async () => {
    await rejectAll(storeOn({ path: folder }), 'io');
    await rejectAll(storeOn({ path: join(folder, 'none', 'x.db') }), 'io');
  });

  test('a database in a missing folder, as on a disk that is not mounted: the call rejects, sends nothing, and makes no folder', async () => {
    const place = join(folder, 'not-mounted');
    const fetch = vi.fn(async () => new Response());
    const once = createOnce({ namespace: 'till', durability: 'required', store: storeOn({ path: join(place, 'x.db') }), fetch });
    const call = once.fetch('https://shop.example/', { method: 'POST', once: ['pay', 1] });
    await expect(call).rejects.toMatchObject({ code: 'ERR_ONCE_STORE', cause: { reason: 'io', message: expect.stringContaining('its folder must be there') } });
    expect(fetch).not.toHaveBeenCalled();
    expect(existsSync(place)).toBe(false);
  });

  test('a database with damaged pages: calls reject with corrupt, and the file stays as it is', async ({ path }) => {
    const bytes = readFileSync(path);
    // The first page says that there are tables, but the pages that it points at are noise.
    writeFileSync(path, bytes.fill(0x5a, 4096));
    await rejectAll(storeOn({ path }), 'corrupt');
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test('a database that was cut off: calls reject with corrupt', async ({ path }) => {
    truncateSync(path, 4096);
    await rejectAll(storeOn({ path }), 'corrupt');
  });

  test('a chain of stores does not skip a file that it could not open', async () => {
    const path = fresh();
    writeFileSync(path, notes);
    await expect(firstAvailable([storeOn({ path }), memoryStore()]).read('a')).rejects.toMatchObject({ reason: 'corrupt' });
  });
});

describe('of a newer version', () => {
  const raise = (path: string): void => {
    const database = new DatabaseSync(path);
    database.exec('UPDATE oncefetch_schema SET version = 2; ALTER TABLE oncefetch_records ADD COLUMN extra');
    database.close();
  };

  test('calls reject with newer, and not a byte is changed', async ({ path }) => {
    raise(path);
    const before = readFileSync(path);
    await rejectAll(storeOn({ path }), 'newer');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('calls reject with newer as well if the upgrade comes while a store of this version is open', async ({ path }) => {
    const store = storeOn({ path });
    await put(store, 'b');
    raise(path);
    await expect(put(store, 'c')).rejects.toMatchObject({ reason: 'newer', message: expect.stringMatching(/schema 2, this is 1/) });
    expect(
      await storeOn({ path: path })
        .read('c')
        .catch((fault) => fault.reason),
    ).toBe('newer');
  });

  test('an update keeps the unknown fields of a record that a newer version wrote', async ({ path }) => {
    const store = storeOn({ path });
    const newer = record('n', { v: 99, sum: 1, novel: { deep: [1] } });
    await store.update('n', () => ({ next: newer, value: undefined }));
    await store.update('n', (current) => ({ next: { ...(current as Stored), state: 'settled' }, value: undefined }));
    expect(await store.read('n')).toEqual({ ...newer, state: 'settled' });
  });
});

describe('gone', () => {
  test.each([
    ['memory', new DatabaseSync(fresh())],
    ['off', new DatabaseSync(fresh(), { defensive: false })],
  ])('a database of the app whose journal_mode is %s, which a kill may destroy: calls reject with denied', async (mode, database) => {
    database.exec(`PRAGMA journal_mode = ${mode}`);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: mode });
    const store = storeOn({ database });
    await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining('journal_mode = WAL') });
    database.exec('PRAGMA journal_mode = WAL');
    expect(await put(store, record('a'))).toBe('stored');
    database.close();
  });

  test('a database that its owner closed: calls reject with closed', async () => {
    const database = new DatabaseSync(fresh());
    const store = storeOn({ database });
    await put(store, 'a');
    database.close();
    for (const [name, call] of everyCall(store).filter(([name]) => name !== 'available'))
      await expect(call(), name).rejects.toMatchObject({ reason: 'closed' });
  });

  test.each(['removed', 'replaced'])(
    'a file that is %s while it is open: calls reject with io, because no other process would find the records',
    async (how) => {
      for (const handedIn of [false, true]) {
        const [path, backup] = [await filled(), await filled()];
        const database = handedIn ? new DatabaseSync(path) : undefined;
        const store = storeOn(database ? { database } : { path });
        expect(await put(store, 'b')).toBe('stored');
        if (how === 'removed') rmSync(path);
        else renameSync(backup, path);
        for (const [name, call] of everyCall(store))
          await expect(call(), name).rejects.toMatchObject({ reason: 'io', message: expect.stringMatching(/removed or replaced/) });
        await store.close();
        if (database?.isOpen) database.close();
      }
    },
  );

  test.each(['removed', 'replaced'])('a file that the app has opened, and that is %s before the first call: calls reject with io', async (how) => {
    for (const removedFirst of [false, true]) {
      const [path, backup] = [await filled(), await filled()];
      const database = new DatabaseSync(path);
      if (removedFirst) rmSync(path);
      const store = storeOn({ database });
      if (how === 'replaced') renameSync(backup, path);
      else rmSync(path, { force: true });
      await expect(put(store, 'b')).rejects.toMatchObject({ reason: 'io' });
      database.close();
    }
  });

  test.each(['wal', 'shm'])(
    'a file whose -%s is removed while it is open, as when another copy of SQLite in the process closes the file: calls reject with io',
    async (part) => {
      for (const handedIn of [false, true]) {
        const path = await filled();
        const database = handedIn ? new DatabaseSync(path) : undefined;
        const store = storeOn(database ? { database } : { path });
        expect(await put(store, 'b')).toBe('stored');
        rmSync(`${path}-${part}`);
        // Another process makes the part anew, and neither would see what the other one stores.
        for (const [name, call] of everyCall(store))
          await expect(call(), name).rejects.toMatchObject({ reason: 'io', message: expect.stringContaining(`-${part} was removed or replaced`) });
        await store.close();
        if (database?.isOpen) database.close();
      }
    },
  );

  test('a database of the app that leaves its write-ahead log, and comes back to one: calls go on', async () => {
    const database = new DatabaseSync(await filled());
    const store = storeOn({ database });
    for (const mode of ['delete', 'wal', 'delete', 'wal']) {
      expect(await put(store, mode)).toBe('stored');
      database.exec(`PRAGMA journal_mode = ${mode}`);
      expect(await store.read(mode)).toMatchObject({ id: mode });
    }
    database.close();
  });

  test.each([
    ['the system says, as Linux does,', existsSync(OPEN_FILES)],
    ['nobody says', false],
  ])('a database of the app that does both between two calls, where %s which files are open (%s): calls go on only if that is known', async (_, told) => {
    const fs = process.getBuiltinModule('node:fs');
    const { readdirSync } = fs;
    if (!told) vi.spyOn(fs, 'readdirSync').mockImplementation(((of: string) => readdirSync(of === OPEN_FILES ? fresh() : of)) as never);
    const path = await filled();
    const database = new DatabaseSync(path);
    const store = storeOn({ database });
    const anew = async (id: string): Promise<unknown> => {
      await put(store, id);
      database.exec('PRAGMA journal_mode = DELETE');
      // Takes the numbers that the removed files had.
      for (const n of [1, 2]) writeFileSync(`${path}-${id}-${n}`, '');
      database.exec('VACUUM; PRAGMA journal_mode = WAL');
      return store.read(id);
    };
    for (const id of ['b', 'c']) {
      if (told) expect(await anew(id)).toMatchObject({ id });
      else await expect(anew(id)).rejects.toMatchObject({ reason: 'io' });
    }
    // A log that somebody has really removed is noticed in any case.
    if (told) await put(store, 'd');
    rmSync(`${path}-wal`, { force: true });
    await expect(store.read('a')).rejects.toMatchObject({ reason: 'io' });
    await store.close();
    database.close();
  });

  test('a copy of the file alone, without the log that a killed process leaves: the newest records are not in it', async () => {
    const [path, copy] = [await filled(), fresh()];
    const store = storeOn({ path });
    // The first update brings the log into the file.
    for (const id of ['first', 'b']) await put(store, id);
    // In a process of its own, because copying the file here would release the store's locks.
    spawnSync('cp', [path, copy]);
    spawnSync('cp', [path, `${copy}-whole`]);
    spawnSync('cp', [`${path}-wal`, `${copy}-whole-wal`]);
    expect(await Promise.all(['a', 'b'].map((id) => storeOn({ path: copy }).read(id)))).toMatchObject([{ id: 'a' }, undefined]);
    expect(await storeOn({ path: `${copy}-whole` }).read('b')).toMatchObject({ id: 'b' });
  });

  test('a Node without SQLite: the store is not available, so a chain goes on to the next one', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
      name === 'node:sqlite' ? undefined : { dirname: () => '', resolve: () => '', basename: () => '', join: () => '', realpathSync: () => '' }) as never);
    const store = storeOn({ path: fresh() });
    expect(await store.available?.()).toBe(false);
    await expect(put(store, 'a')).rejects.toMatchObject({ reason: 'denied', message: expect.stringMatching(/node:sqlite/) });
    const chain = firstAvailable([store, memoryStore()]);
    expect(await put(chain, 'a')).toBe('stored');
    expect(chain.kind).toBe('memory');
  });

  test('a database that does not say whether a transaction is open, as in Node before 22.16: calls reject with denied, and none is left open', async () => {
    class Old {
      readonly #database: DatabaseSync;
      constructor(path: string) {
        this.#database = new DatabaseSync(path);
      }
      exec = (sql: string): void => this.#database.exec(sql);
      prepare = (sql: string): SqliteStatement => this.#database.prepare(sql);
      close = (): void => this.#database.close();
    }
    const path = fresh();
    const database = new Old(path);
    for (const store of [storeOn({ database }), storeOn({ path, Database: Old })]) {
      await rejectAll(store, 'denied');
      await expect(put(store, 'a')).rejects.toThrow(/Node 22\.16/);
    }
    database.exec('CREATE TABLE orders (id TEXT)');
    const other = new DatabaseSync(path);
    expect(other.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'orders' }]);
    other.close();
  });

  test('an open store keeps no process alive', async () => {
    const probe = script(join(import.meta.dirname, 'sqlite-probe.ts'));
    expect(spawnSync(process.execPath, [probe.path, fresh()], { timeout: 10_000 }).status).toBe(0);
    probe.remove();
  });
});

test.each([
  ['an inherited name', 'SQLITE_constructor', 'io'],
  ['another inherited name', 'SQLITE___proto__', 'io'],
  ['a code of something else', 'ANOTHERBUSY', 'io'],
  ['a name', 'SQLITE_FULL', 'quota'],
  ['an extended name', 'SQLITE_BUSY_SNAPSHOT', 'blocked'],
  ['an extended name of its own', 'SQLITE_IOERR_SHMSIZE', 'quota'],
  ['a symbol', Symbol('SQLITE_BUSY'), 'io'],
])('reads a code only if it is one of SQLite: %s', (_, code, reason) => {
  expect(sqliteFault('the file', Object.assign(new Error('no'), { code })).reason).toBe(reason);
});
