/**
 * Goal: checkpoints of an SQLite file hold up nobody's event loop, its log stays bounded all the same, and the thread that makes them keeps
 * neither a process nor a file. Method: real files; the database file alone shows what has left the log.
 */
import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { Store, Stored } from '../../../src/ports.js';
import { canFlush } from '../../../src/stores/sqlite/flush.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { script } from '../../support/child.js';
import { describeOn } from '../../support/describe-on.js';

const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads');
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-checkpoints-'));
/** More than leads to a checkpoint, less than makes SQLite do one by itself. */
const SOME = 300;
/** What a record takes in the database at the least, with its indexes. */
const BYTES_MIN = 150;
/** Four times the length at which a log is to begin anew, bytes. */
const LOG_MAX = 8000 * 4096;
/** Where the header of a log counts how often it began anew: the field "checkpoint sequence number" of SQLite's file format. */
const TIMES_ANEW_AT = 12;
const slow = { timeout: 40_000, interval: 20 };
vi.setConfig({ testTimeout: 120_000 });

const open: Store[] = [];
let files = 0;
const fresh = (): string => join(folder, `${files++}.db`);

/** A store, and the connection that it made. */
function storeOn(path: string) {
  const connections: DatabaseSync[] = [];
  class Database extends DatabaseSync {
    constructor(at: string) {
      super(at);
      connections.push(this);
    }
  }
  const store = sqliteStore({ path, Database });
  open.push(store);
  // The holder of a lease has a file of its own, and is not asked for here.
  const limit = (): unknown => connections[0]?.prepare('PRAGMA wal_autocheckpoint').get()?.['wal_autocheckpoint'];
  return { store, limit };
}
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((store) => store.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function write(store: Store, count: number, from = 0, body = ''): Promise<void> {
  for (let n = from; n < from + count; n++) {
    const record = { id: `${n}`, ns: 'ns', state: 'pending', label: `["${n}"]`, forgetAt: n, body } satisfies Stored & { body: string };
    await store.update(record.id, () => ({ next: record, value: undefined }), { durability: n % 20 ? 'relaxed' : 'strict' });
  }
}

/** Somebody who reads what there is by now, until it is closed. */
function reads(path: string): DatabaseSync {
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM oncefetch_records').get();
  return reader;
}

/** How many records are in the database without its log. */
function inDatabaseAlone(path: string): number {
  const copy = fresh();
  copyFileSync(path, copy);
  const database = new DatabaseSync(copy);
  try {
    return Number(database.prepare('SELECT count(*) AS n FROM oncefetch_records').get()?.['n']);
  } finally {
    database.close();
  }
}

function timesAnew(path: string): number {
  const header = Buffer.alloc(TIMES_ANEW_AT + 4);
  const file = openSync(`${path}-wal`, 'r');
  readSync(file, header);
  closeSync(file);
  return header.readUInt32BE(TIMES_ANEW_AT);
}

/** What the package starts of threads. */
function startedThreads() {
  const started: import('node:worker_threads').Worker[] = [];
  const { Worker } = threads;
  vi.spyOn(threads, 'Worker').mockImplementation(
    class extends Worker {
      constructor(...of: ConstructorParameters<typeof Worker>) {
        super(...of);
        started.push(this);
      }
    } as never,
  );
  return started;
}

/** Has each thread run this first. */
function threadsBegin(code: string): void {
  const { Worker } = threads;
  vi.spyOn(threads, 'Worker').mockImplementation(
    class extends Worker {
      constructor(rest: string, options: ConstructorParameters<typeof Worker>[1]) {
        super(code + rest, options);
      }
    } as never,
  );
}

describeOn(canFlush() ? undefined : 'SQLite makes its checkpoints by itself here')('checkpoints', () => {
  test('another thread makes them, and SQLite itself none on the way', async () => {
    const path = fresh();
    const { store, limit } = storeOn(path);
    await write(store, SOME);
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(SOME * BYTES_MIN), slow);
    expect(limit()).toBe(8000);
    await write(store, SOME, SOME);
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(1.5 * SOME * BYTES_MIN), slow);
  });

  test('few updates start no thread, many one', async () => {
    const started = startedThreads();
    const { store } = storeOn(fresh());
    await write(store, 100);
    expect(started).toHaveLength(0);
    await write(store, 1000, 100);
    expect(started).toHaveLength(1);
  });

  test('the log begins anew while several processes always write', { timeout: 120_000 }, async () => {
    const path = fresh();
    const worker = script(join(import.meta.dirname, 'sqlite-worker.ts'));
    const children = ['a', 'b', 'c'].map((name) => worker.start([path, 'write', name, '20000']));
    try {
      await Promise.all(children.map((child) => child.line((line) => line === 'ready')));
      for (const child of children) child.say('go');
      await Promise.all(children.map((child) => child.line((line) => line.startsWith('stored'))));
      await expect.poll(() => timesAnew(path), { timeout: 110_000 }).toBeGreaterThan(1);
    } finally {
      for (const child of children) child.process.kill('SIGKILL');
      await Promise.all(children.map((child) => child.ended));
      worker.remove();
    }
  });

  test('somebody who reads for long holds up nobody who writes, and the log begins anew after that', async () => {
    const path = fresh();
    const { store } = storeOn(path);
    await write(store, SOME);
    const reader = reads(path);
    await write(store, 4 * SOME, SOME);
    const size = statSync(`${path}-wal`).size;
    reader.exec('COMMIT');
    reader.close();
    await write(store, 4 * SOME, 5 * SOME);
    let written = 9 * SOME;
    await vi.waitFor(async () => {
      // Without its log, a database is whole only after a checkpoint that nobody's reading has cut short: the next one comes with more records.
      await write(store, SOME, written);
      written += SOME;
      expect(inDatabaseAlone(path)).toBeGreaterThan(7 * SOME);
    }, slow);
    expect(statSync(`${path}-wal`).size).toBeLessThan(size + LOG_MAX);
  });

  test('a writer in the way puts no checkpoint off: the next one tries again to begin the log anew', async () => {
    const tries = fresh();
    const aWriterInTheWay = `{
      const { DatabaseSync } = require('node:sqlite');
      const { appendFileSync } = require('node:fs');
      const { prepare } = DatabaseSync.prototype;
      DatabaseSync.prototype.prepare = function (sql) {
        if (!sql.includes('RESTART')) return prepare.call(this, sql);
        const writer = new DatabaseSync(require('node:worker_threads').workerData);
        writer.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
        const statement = prepare.call(this, sql);
        return { get: () => {
          const result = statement.get();
          writer.close();
          appendFileSync(${JSON.stringify(tries)}, result.busy + ' ');
          return result;
        } };
      };
    }`;
    threadsBegin(aWriterInTheWay);
    const path = fresh();
    const { store } = storeOn(path);
    // Each time more than a log has before it begins anew, whether or not one that is all in the database has begun anew by itself.
    for (let batch = 1; batch <= 5; batch++) {
      await write(store, 250, 250 * batch, 'x'.repeat(50_000));
      await vi.waitFor(() => expect(readFileSync(tries, 'utf8')).toBe('1 '.repeat(batch)), slow);
    }
  });

  test('where no thread may be started, SQLite makes them as ever', async () => {
    vi.spyOn(threads, 'Worker').mockImplementation(
      class {
        constructor() {
          throw new Error('Access to this API has been restricted');
        }
      } as never,
    );
    const path = fresh();
    const { store, limit } = storeOn(path);
    await write(store, 2 * SOME);
    expect(limit()).toBe(1000);
    await write(store, 2 * SOME, 2 * SOME);
    expect(inDatabaseAlone(path)).toBeGreaterThan(SOME);
  });

  test('nor is anything lost where the thread dies', async () => {
    const { Worker } = threads;
    vi.spyOn(threads, 'Worker').mockImplementation(
      class extends Worker {
        constructor() {
          super('throw new Error("broken")', { eval: true });
        }
      } as never,
    );
    const { store, limit } = storeOn(fresh());
    await write(store, SOME);
    await vi.waitFor(() => expect(limit()).toBe(1000), slow);
    await write(store, SOME, SOME);
    expect(await store.read('599')).toMatchObject({ forgetAt: 599 });
  });

  test('a store that is closed ends its thread, and leaves one whole file', async () => {
    const started = startedThreads();
    const path = fresh();
    const { store } = storeOn(path);
    await write(store, SOME);
    const ended = new Promise((end) => started[0]?.on('exit', end));
    await store.close();
    expect(await ended).toBe(0);
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(inDatabaseAlone(path)).toBe(SOME);
  });

  test('a store that is closed in the midst of a checkpoint leaves one whole file, too', async () => {
    const lingering = `
      const { close } = require('node:sqlite').DatabaseSync.prototype;
      require('node:sqlite').DatabaseSync.prototype.close = function () {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
        close.call(this);
      };`;
    threadsBegin(lingering);
    const path = fresh();
    const { store } = storeOn(path);
    await write(store, SOME);
    // The thread has brought something over, and has the file open.
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(SOME * BYTES_MIN), slow);
    await write(store, 2, SOME);
    await Promise.all([store.close(), store.close()]);
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(inDatabaseAlone(path)).toBe(SOME + 2);
  });

  test('a process ends by itself, though its thread waits', async () => {
    const path = fresh();
    const worker = script(join(import.meta.dirname, 'sqlite-worker.ts'));
    const child = worker.start([path, 'leave', 'p', String(SOME)]);
    await child.line((line) => line === 'ready');
    child.say('go');
    expect(await child.ended).toBe(0);
    worker.remove();
    const { store } = storeOn(path);
    expect(await store.read(`p-${SOME - 1}`)).toMatchObject({ id: `p-${SOME - 1}` });
  });
});
