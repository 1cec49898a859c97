/**
 * Goal: a strict update is reported as stored only when it is on disk, and never after a failed flush, although the store itself flushes the log,
 * after the commit and beside the event loop. Method: real files; Node's flush held back, refused or slowed down; the database file without its
 * log, as a power cut would leave it.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { createOnce, outcomeOf } from '../../../src/entries/index.js';
import type { Store } from '../../../src/ports.js';
import { canFlush } from '../../../src/stores/sqlite/flush.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { script } from '../../support/child.js';
import { describeOn } from '../../support/describe-on.js';
import { put, record } from '../../support/stored.js';

const fs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-flush-'));
const open: Store[] = [];
let files = 0;
const fresh = (): string => join(folder, `${files++}.db`);
const storeOn = (path: string): Store => {
  const store = sqliteStore({ path, busyTimeoutMs: 1000 });
  open.push(store);
  return store;
};
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((store) => store.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const turn = (ms = 0) => new Promise((done) => setTimeout(done, ms));

/** The ids of the records that the database file has without its log. */
function inDatabaseAlone(path: string): readonly unknown[] {
  const copy = fresh();
  copyFileSync(path, copy);
  const database = new DatabaseSync(copy);
  try {
    return database
      .prepare('SELECT id FROM oncefetch_records ORDER BY id')
      .all()
      .map((row) => row['id']);
  } finally {
    database.close();
  }
}

/** A store that has found its disk to be slow. From then on, a flush ends when the test calls its entry in `flushes`. */
async function slow(path = fresh()) {
  const real = fs.fdatasyncSync;
  const spy = vi.spyOn(fs, 'fdatasyncSync').mockImplementation((file) => {
    for (const end = performance.now() + 5; performance.now() < end; );
    real(file);
  });
  const store = storeOn(path);
  for (let n = 0; n < 4; n++) await put(store, `before ${n}`);
  spy.mockRestore();
  const flushes: ((error: Error | null) => void)[] = [];
  vi.spyOn(fs, 'fdatasync').mockImplementation((_file, done) => void flushes.push(done as (error: Error | null) => void));
  return { path, store, flushes };
}
const broken = () => Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });

describeOn(canFlush() ? undefined : 'SQLite flushes by itself here')('a flush by the store', () => {
  test('is awaited by a strict update, but not by a relaxed one; meanwhile others see the strict update', async () => {
    const { path, store, flushes } = await slow();
    const ends: string[] = [];
    const strict = put(store, 'a').then(() => ends.push('strict'));
    await put(store, 'b', 'relaxed').then(() => ends.push('relaxed'));
    await turn(20);
    expect(ends).toEqual(['relaxed']);
    expect(await storeOn(path).read('a')).toEqual(record('a'));
    expect(flushes).toHaveLength(1);
    flushes[0]?.(null);
    await strict;
    expect(ends).toEqual(['relaxed', 'strict']);
  });

  test('does not count for updates that were committed while it ran: they wait for the next flush, which they share', async () => {
    const { store, flushes } = await slow();
    const ends: string[] = [];
    const ask = (id: string) => put(store, id).then(() => ends.push(id));
    const all = [ask('a')];
    await turn(10);
    all.push(ask('b'));
    await turn(10);
    all.push(ask('c'));
    await turn(10);
    expect(flushes).toHaveLength(1);
    flushes[0]?.(null);
    await turn(10);
    expect([ends, flushes.length]).toEqual([['a'], 2]);
    flushes[1]?.(null);
    await Promise.all(all);
    expect([ends, flushes.length]).toEqual([['a', 'b', 'c'], 2]);
  });

  test('leaves the event loop free, and other connections can write meanwhile', async () => {
    const { path, store, flushes } = await slow();
    const waiting = put(store, 'a');
    await turn(10);
    expect(await put(storeOn(path), 'another')).toBe('stored');
    flushes[0]?.(null);
    await waiting;
  });

  test('that fails rejects every update that waited for it, and every one that was committed meanwhile', async () => {
    const { store, flushes } = await slow();
    const first = put(store, 'a').catch((fault) => fault);
    await turn(10);
    const second = put(store, 'b').catch((fault) => fault);
    await turn(10);
    flushes[0]?.(broken());
    for (const end of [first, second])
      expect(await end).toMatchObject({ name: 'StoreFault', reason: 'io', cause: { code: 'EIO' }, message: expect.stringContaining('flushed') });
  });

  test('that fails: no strict update is reported as stored before the whole log is in the database and on disk', async () => {
    const { path, store, flushes } = await slow();
    const failed = put(store, 'a').catch((fault) => fault.reason);
    await turn(10);
    flushes[0]?.(broken());
    expect(await failed).toBe('io');
    // A reader of an older state keeps the log in use.
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN; SELECT * FROM oncefetch_records');
    reader.prepare('SELECT count(*) FROM oncefetch_records').get();
    expect(await put(store, 'b', 'relaxed')).toBe('stored');
    await expect(put(store, 'c')).rejects.toMatchObject({ reason: 'io' });
    await expect(put(store, 'd')).rejects.toMatchObject({ reason: 'io' });
    reader.exec('COMMIT');
    reader.close();
    expect(await put(store, 'e')).toBe('stored');
    expect(inDatabaseAlone(path)).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd', 'e']));
    // From then on the store flushes by itself again.
    const last = put(store, 'f');
    await turn(10);
    expect(flushes).toHaveLength(2);
    flushes[1]?.(null);
    expect(await last).toBe('stored');
  });

  test('that fails at once, on a fast disk: the next update also moves the whole log into the database', async () => {
    const path = fresh();
    const store = storeOn(path);
    await put(store, 'a');
    vi.spyOn(fs, 'fdatasyncSync').mockImplementationOnce(() => {
      throw broken();
    });
    await expect(put(store, 'b')).rejects.toMatchObject({ reason: 'io' });
    expect(await put(store, 'c')).toBe('stored');
    expect(inDatabaseAlone(path)).toEqual(['a', 'b', 'c']);
  });

  test('is not enough for the first strict update of a store: it moves the log of other processes into the database', async () => {
    const path = fresh();
    const other = storeOn(path);
    for (const id of ['x', 'y', 'z']) await put(other, id, 'relaxed');
    expect(() => inDatabaseAlone(path)).toThrow('no such table');
    await put(storeOn(path), 'a');
    expect(inDatabaseAlone(path)).toEqual(['a', 'x', 'y', 'z']);
  });

  describe('a payment whose record could not be flushed', () => {
    async function shop() {
      const path = fresh();
      const store = storeOn(path);
      await put(store, 'warm');
      const sent: { key: string | null; stored: number }[] = [];
      const fetch = async (_: unknown, init?: RequestInit) => {
        sent.push({ key: new Headers(init?.headers).get('idempotency-key'), stored: inDatabaseAlone(path).length });
        return new Response('{}', { status: 201 });
      };
      const once = createOnce({ namespace: 'shop', store, durability: 'required', fetch: fetch as typeof globalThis.fetch });
      const pay = () => once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch((error: unknown) => error);
      for (const name of ['fdatasyncSync', 'fdatasync'] as const)
        vi.spyOn(fs, name).mockImplementationOnce(((_file: number, done?: (error: Error) => void) => {
          if (!done) throw broken();
          setImmediate(done, broken());
        }) as never);
      return { path, sent, pay };
    }

    test('is sent once the whole log is in the database and on disk', async () => {
      const { sent, pay } = await shop();
      expect(outcomeOf(await pay())?.effect).toBe('done');
      expect(sent).toMatchObject([{ stored: 2 }]);
    });

    test('is not sent while a reader keeps the log in use; the next call after that sends it', async () => {
      const { path, sent, pay } = await shop();
      const reader = new DatabaseSync(path);
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM oncefetch_records').get();
      expect(await pay()).toMatchObject({ code: 'ERR_ONCE_STORE' });
      expect(await pay()).toMatchObject({ code: 'ERR_ONCE_STORE' });
      expect(sent).toEqual([]);
      reader.exec('COMMIT');
      reader.close();
      expect(outcomeOf(await pay())?.effect).toBe('done');
      expect(sent).toMatchObject([{ stored: 2 }]);
    });
  });

  test('is awaited by a read of the record, which rejects if the flush fails', async () => {
    const { path, store, flushes } = await slow();
    const update = put(store, 'a').catch((fault) => fault.reason);
    await turn(10);
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM oncefetch_records').get();
    expect(await put(store, 'b', 'relaxed')).toBe('stored');
    const read = store.read('a').catch((fault) => fault.reason);
    await turn(10);
    flushes[0]?.(broken());
    expect([await update, await read]).toEqual(['io', 'io']);
    await expect(store.read('a')).rejects.toMatchObject({ reason: 'io' });
    reader.exec('COMMIT');
    reader.close();
    expect(await store.read('a')).toEqual(record('a'));
    expect(inDatabaseAlone(path)).toContain('a');
  });

  describe('when the store is closed', () => {
    test('a flush in progress still decides what its updates report', async () => {
      const { store, flushes } = await slow();
      const [first, second] = [put(store, 'a'), turn(10).then(() => put(store, 'b'))];
      await turn(30);
      await store.close();
      flushes[0]?.(null);
      expect(await first).toBe('stored');
      await expect.poll(() => flushes).toHaveLength(2);
      flushes[1]?.(null);
      expect(await second).toBe('stored');
    });

    test('an update that waits for its commit is committed and flushed', async () => {
      const path = fresh();
      const store = storeOn(path);
      await put(store, 'a');
      const last = put(store, 'b');
      await store.close();
      expect(await last).toBe('stored');
      expect(inDatabaseAlone(path)).toEqual(['a', 'b']);
    });
  });

  test('goes to the same file for a relative path, although the process has changed its directory', async () => {
    const before = process.cwd();
    process.chdir(folder);
    const store = storeOn(`./relative-${files++}.db`);
    await store.available?.();
    process.chdir(tmpdir());
    const opened = vi.spyOn(fs, 'openSync');
    await put(store, 'a');
    process.chdir(before);
    expect(opened.mock.calls.map(([path]) => String(path)).filter((path) => path.endsWith('-wal'))).toEqual([expect.stringContaining(folder)]);
  });

  test('tries to move the log past a long reader once a second, not at every commit', async () => {
    const path = fresh();
    const store = storeOn(path);
    await put(store, 'a', 'relaxed');
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM oncefetch_records').get();
    await put(store, 'b', 'relaxed');
    const opened = vi.spyOn(fs, 'openSync');
    const flushed = vi.spyOn(fs, 'fdatasyncSync');
    for (const id of ['c', 'd', 'e']) await put(store, id);
    expect(opened.mock.calls.filter(([file]) => file === `${path}-wal`)).toHaveLength(1);
    reader.close();
    const { now } = performance;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 1000);
    expect(flushed).not.toHaveBeenCalled();
    for (const id of ['f', 'g']) await put(store, id);
    expect(flushed).toHaveBeenCalledTimes(1);
  });
});

test('where Node forbids flushes (--permission), SQLite makes them: every strict update is stored', async () => {
  const worker = script(join(import.meta.dirname, 'sqlite-worker.ts'));
  const path = fresh();
  const args = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', worker.path, path, 'raise', 'a', '5'];
  const { status, stderr } = spawnSync(process.execPath, args, { input: 'go\n', encoding: 'utf8' });
  worker.remove();
  expect(stderr).not.toMatch(/could not be flushed/);
  expect(status).toBe(0);
  expect(await storeOn(path).read('counter')).toMatchObject({ count: 5 });
});
