/**
 * Goal: SQLite keeps the store contract, in a file and in a database that the app hands in, and commits in groups.
 * Method: real files; a Database that counts its statements.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite.js';
import { ordered } from '../../src/stores/text.js';
import { storeContract } from '../../src/testing/store-contract.js';
import { record } from '../support/stored.js';

// On the disk, because strict commits wait for it. Other programs may keep the disk busy.
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-sqlite-'));
// The second run of the contract needs no disk: a rollback journal takes several flushes for one commit.
const ram = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'oncefetch-sqlite-'));
afterAll(() => {
  for (const one of [folder, ram]) rmSync(one, { recursive: true, force: true });
});

const file = (name: string): string => join(folder, `${name}.db`);

/** Every SQL text that was run, in order. */
const ran: string[] = [];
class Counting extends DatabaseSync {
  override exec(sql: string): void {
    ran.push(sql);
    super.exec(sql);
  }
  override prepare(sql: string) {
    const statement = super.prepare(sql);
    return new Proxy(statement, {
      get(target, name: 'get' | 'all' | 'run') {
        const method = target[name] as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => {
          ran.push(sql);
          return method.apply(target, values);
        };
      },
    });
  }
}

/** Damages a record beneath the store: its data is wrong, while the indexed columns stay right. */
async function plant(path: string, id: string, value: unknown): Promise<void> {
  await sqliteStore({ path }).available?.();
  const database = new DatabaseSync(path);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  database
    .prepare('INSERT OR REPLACE INTO oncefetch_records VALUES (?, ?, ?, ?, ?, ?)')
    .run(ordered(id), 'ns', 'pending', ordered(`["pay","${id}"]`), 1000, text);
  database.close();
}

const inFile = storeContract({
  name: 'sqlite',
  test,
  open: (medium) => sqliteStore({ path: file(medium), Database: Counting }),
  plant: (medium, id, value) => plant(file(medium), id, value),
  work: () => ran.length,
});

const databases: DatabaseSync[] = [];
const handedIn = storeContract({
  name: 'sqlite, a database handed in',
  test,
  open: (medium) => {
    const database = new Counting(join(ram, `${medium}.db`));
    databases.push(database);
    return sqliteStore({ database });
  },
  plant: (medium, id, value) => plant(join(ram, `${medium}.db`), id, value),
  work: () => ran.length,
});

/** Settings that the owner of a database may have chosen for their own queries. */
const owners = [{ readBigInts: true }, { returnArrays: true }, { readBigInts: true, returnArrays: true }].map((settings) =>
  storeContract({
    name: `sqlite, a database opened with ${Object.keys(settings).join(' and ')}`,
    test,
    open: (medium) => {
      const database = new Counting(join(ram, `${medium}.db`), settings);
      databases.push(database);
      return sqliteStore({ database });
    },
    plant: (medium, id, value) => plant(join(ram, `${medium}.db`), id, value),
    work: () => ran.length,
  }),
);

const inMemory = storeContract({ name: 'sqlite in memory', test, shared: false, open: () => sqliteStore({ path: ':memory:' }) });

afterAll(() => {
  for (const database of databases) database.close();
  expect(inFile.left).toEqual([]);
  expect(handedIn.left).toEqual([]);
  for (const { left } of owners) expect(left).toEqual([]);
  expect(inMemory.ran).toEqual([]);
});

describe('what the store declares', () => {
  test('a file survives a crash of the machine, and has one scope, whichever path leads to it', () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    const [a, b] = [sqliteStore({ path: join(folder, 'real', 'x.db') }), sqliteStore({ path: join(folder, 'link', '..', 'link', 'x.db') })];
    expect(a).toMatchObject({ kind: 'sqlite', survives: 'machine', shared: 'machine', atomic: true });
    expect(b.scope).toBe(a.scope);
    const database = new DatabaseSync(join(folder, 'real', 'x.db'));
    expect(sqliteStore({ database }).scope).toBe(a.scope);
    database.close();
  });

  test('a link to a file has the scope of the file, and the same list of live processes', async () => {
    const [path, link] = [join(folder, 'target.db'), join(folder, 'named.db')];
    const store = sqliteStore({ path });
    await store.available?.();
    symlinkSync(path, link);
    const [linked, database] = [sqliteStore({ path: link }), new DatabaseSync(link)];
    expect([linked.scope, sqliteStore({ database }).scope]).toEqual([store.scope, store.scope]);
    await linked.holder?.();
    expect(existsSync(`${link}-holders`)).toBe(false);
    database.close();
    for (const one of [store, linked]) await one.close();
  });

  test('a link to a file that does not exist yet has the scope of that file, before the file is made and after', async () => {
    const [path, link] = [join(folder, 'late.db'), join(folder, 'early.db')];
    symlinkSync('late.db', link);
    const store = sqliteStore({ path: link });
    await store.available?.();
    expect([existsSync(path), sqliteStore({ path: link }).scope, sqliteStore({ path }).scope]).toEqual([true, store.scope, store.scope]);
    await store.close();
    const [to, fro] = [join(folder, 'to.db'), join(folder, 'fro.db')];
    symlinkSync(to, fro);
    symlinkSync(fro, to);
    await expect(sqliteStore({ path: to }).available?.()).rejects.toThrow();
  });

  test('a relative path keeps its meaning from the time when the store was made', async () => {
    const before = process.cwd();
    mkdirSync(join(folder, 'elsewhere'));
    try {
      process.chdir(folder);
      const store = sqliteStore({ path: 'relative.db' });
      process.chdir('elsewhere');
      await store.update('a', () => ({ next: record('a'), value: undefined }));
      await store.close();
    } finally {
      process.chdir(before);
    }
    expect([existsSync(file('relative')), existsSync(join(folder, 'elsewhere', 'relative.db'))]).toEqual([true, false]);
  });

  test('a database in memory survives nothing, and each one has its own scope, the same one in all copies of the package', async () => {
    vi.resetModules();
    const copy = await import('../../src/stores/sqlite/sqlite.js');
    const database = new DatabaseSync(':memory:');
    const [first, ...stores] = [sqliteStore, copy.sqliteStore].flatMap((make) => [make({ path: ':memory:' }), make({ path: ':memory:' }), make({ database })]);
    expect(first).toMatchObject({ survives: 'context', shared: 'context' });
    expect(new Set([first, ...stores].map((store) => store?.scope)).size).toBe(5);
    expect(sqliteStore({ database }).scope).toBe(copy.sqliteStore({ database }).scope);
    database.close();
  });

  test('calls of one name by two copies of the package, over one database in memory, run the function once', async () => {
    const database = new DatabaseSync(':memory:');
    const effect = vi.fn(async () => {});
    const calls = [];
    for (let copy = 0; copy < 2; copy++) {
      vi.resetModules();
      const [{ createOnce, run }, sqlite] = await Promise.all([import('../../src/entries/node.js'), import('../../src/entries/sqlite.js')]);
      // Other databases in memory, so that the two copies have made different numbers of them.
      if (copy) sqlite.sqliteStore({ path: ':memory:' });
      const once = createOnce({ store: sqlite.sqliteStore({ database }) });
      calls.push(() => run(once, ['charge', 1], effect));
    }
    await Promise.all(calls.map((call) => call()));
    expect(effect).toHaveBeenCalledTimes(1);
    database.close();
  });

  test.each([
    [{}, /either path/],
    [{ path: '' }, /either path/],
    [{ path: 'a.db', database: new DatabaseSync(':memory:') }, /either path/],
    [{ database: {} }, /either path/],
    [{ path: 'file:a.db?mode=memory' }, /URI/],
  ])('%o is refused with a TypeError', (options, says) => {
    expect(() => sqliteStore(options as never)).toThrow(says);
    expect(() => sqliteStore(options as never)).toThrow(TypeError);
  });
});

describe('commits', () => {
  const put = (store: ReturnType<typeof sqliteStore>, id: string, durability: 'strict' | 'relaxed' = 'strict') =>
    store.update(id, () => ({ next: record(id), value: id }), { durability });
  const commits = (from: number) => ran.slice(from).filter((sql) => sql === 'COMMIT').length;

  test('updates of one turn of the event loop go out in one commit, and resolve after it', async () => {
    const store = sqliteStore({ path: file('turn'), Database: Counting });
    await put(store, 'first');
    const before = ran.length;
    const all = Array.from({ length: 64 }, (_, n) => put(store, `r${n}`).then(() => commits(before)));
    expect(await Promise.all(all)).toEqual(Array(64).fill(1));
    expect(commits(before)).toBe(1);
    await store.close();
  });

  test('a thousand updates of one turn take four commits', async () => {
    const store = sqliteStore({ path: file('many'), Database: Counting });
    await put(store, 'first');
    const before = ran.length;
    await Promise.all(Array.from({ length: 1000 }, (_, n) => put(store, `r${n}`)));
    expect(commits(before)).toBe(4);
    await store.close();
  });

  test('A34: a strict update is flushed to the disk, alone or among relaxed ones; relaxed ones alone are not', async () => {
    const store = sqliteStore({ path: file('sync'), Database: Counting });
    const level = () => ran.filter((sql) => sql.startsWith('PRAGMA synchronous =')).at(-1);
    await Promise.all([put(store, 'a', 'relaxed'), put(store, 'b', 'relaxed')]);
    expect(level()).toBe('PRAGMA synchronous = 1');
    await Promise.all([put(store, 'a', 'relaxed'), put(store, 'b', 'strict')]);
    expect(level()).toBe('PRAGMA synchronous = 2');
    await put(store, 'c', 'relaxed');
    expect(level()).toBe('PRAGMA synchronous = 1');
    await store.close();
  });

  test('a change that throws does not undo the other changes of its commit', async () => {
    const store = sqliteStore({ path: file('throws') });
    const thrown = new Error('no');
    const results = await Promise.allSettled([
      put(store, 'a'),
      store.update('a', () => {
        throw thrown;
      }),
      put(store, 'b'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason).toBe(thrown);
    expect([await store.read('a'), await store.read('b')]).toEqual([record('a'), record('b')]);
    await store.close();
  });

  test('an update that waits when the store is closed is committed first', async () => {
    const store = sqliteStore({ path: file('close') });
    const last = put(store, 'last');
    await store.close();
    await last;
    const again = sqliteStore({ path: file('close') });
    expect(await again.read('last')).toEqual(record('last'));
    await again.close();
  });

  test('bytes, infinite times and members that look like tags come back as they were', async () => {
    const store = sqliteStore({ path: file('odd') });
    const odd = record('odd', {
      forgetAt: Number.POSITIVE_INFINITY,
      body: new Uint8Array([0, 255, 10]),
      meta: { '~': ['bytes', 'AA=='] },
      buffer: Buffer.from('hi'),
    });
    await store.update('odd', () => ({ next: odd, value: undefined }));
    expect(await store.read('odd')).toEqual({ ...odd, buffer: new Uint8Array([104, 105]) });
    expect((await store.scan({ before: Number.POSITIVE_INFINITY, limit: 1 })).records).toEqual([]);
    await store.close();
  });
});

test('scans and sweeps use an index', () => {
  const database = new DatabaseSync(file('plan'));
  const store = sqliteStore({ database });
  return store.available?.().then(() => {
    const plan = (sql: string, ...values: (string | number)[]) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]).map(({ detail }) => detail);
    const place = 'SELECT id, label, data FROM oncefetch_records WHERE ns = ? AND state = ? AND (label, id) > (?, ?) AND label < ? ORDER BY label, id LIMIT ?';
    expect(plan(place, 'n', 's', 'a', 'b', 'c', 1)).toEqual([
      expect.stringMatching(/^SEARCH .* USING INDEX oncefetch_records_place \(ns=\? AND state=\? AND \(label,id\)>\(\?,\?\)/),
    ]);
    expect(plan('SELECT id FROM oncefetch_records WHERE forget_at < ? ORDER BY forget_at LIMIT ? OFFSET ?', 1, 1, 0)).toEqual([
      expect.stringMatching(/^SEARCH .* USING INDEX oncefetch_records_time/),
    ]);
    database.close();
  });
});
