/**
 * Goal: checkpoints of an SQLite file do not block the event loop, the log still stays bounded, and the thread that makes them keeps
 * neither a process alive nor a file open. Method: real files; the database file without its log shows what a checkpoint has moved.
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
/** Enough records for a checkpoint by the store, too few for one by SQLite itself. */
const SOME = 300;
/** The least that a record takes in the database, with its indexes. */
const BYTES_MIN = 150;
/** Four times the length at which a log should begin anew, bytes. */
const LOG_MAX = 8000 * 4096;
/** Offset of the count of how often a log began anew: the field "checkpoint sequence number" in the log's header. */
const TIMES_ANEW_AT = 12;
const slow = { timeout: 40_000, interval: 20 };
vi.setConfig({ testTimeout: 120_000 });

const open: Store[] = [];
let files = 0;
const fresh = (): string => join(folder, `${files++}.db`);

/** A store, and the automatic checkpoint limit of its connection. */
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
  // The first connection is that of the records. The store may open another one for the file that marks its process as alive.
  const limit = (): unknown => connections[0]?.prepare('PRAGMA wal_autocheckpoint').get()?.['wal_autocheckpoint'];
  return { store, limit };
}
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(open.splice(0).map((store) => store.close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of so many updates one is strict: it waits for the disk, which takes most of a second while somebody else writes much to it. */
const STRICT_OF = 100;

async function write(store: Store, count: number, from = 0, body = ''): Promise<void> {
  for (let n = from; n < from + count; n++) {
    const record = { id: `${n}`, ns: 'ns', state: 'pending', label: `["${n}"]`, forgetAt: n, body } satisfies Stored & { body: string };
    await store.update(record.id, () => ({ next: record, value: undefined }), { durability: n % STRICT_OF ? 'relaxed' : 'strict' });
  }
}

/** A connection that reads the current state until it is closed. */
function reads(path: string): DatabaseSync {
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM oncefetch_records').get();
  return reader;
}

/** How many records the database file has without its log. */
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

/** The threads that the package starts from now on. */
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

/** Makes each thread run `code` before its own script. */
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
  test('another thread makes them, and SQLite itself makes none during commits', async () => {
    const path = fresh();
    const { store, limit } = storeOn(path);
    await write(store, SOME);
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(SOME * BYTES_MIN), slow);
    expect(limit()).toBe(8000);
    await write(store, SOME, SOME);
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(1.5 * SOME * BYTES_MIN), slow);
  });

  test('few updates start no thread, many updates start one', async () => {
    const started = startedThreads();
    const { store } = storeOn(fresh());
    await write(store, 100);
    expect(started).toHaveLength(0);
    await write(store, 1000, 100);
    expect(started).toHaveLength(1);
  });

  test('the log begins anew while several processes write without a pause', { timeout: 120_000 }, async () => {
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

  test('a long reader does not hold up writers, and the log begins anew after it', async () => {
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
      // The database file alone is complete only after a checkpoint that no reader has cut short. Another checkpoint needs more records.
      await write(store, SOME, written);
      written += SOME;
      expect(inDatabaseAlone(path)).toBeGreaterThan(7 * SOME);
    }, slow);
    expect(statSync(`${path}-wal`).size).toBeLessThan(size + LOG_MAX);
  });

  test('a writer in the way does not stop later checkpoints: each one tries again to restart the log', async () => {
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
    // Each batch makes the log longer than allowed, so it leads to a try, whether or not SQLite itself has restarted the
    // log before.
    for (let batch = 1; batch <= 5; batch++) {
      await write(store, 250, 250 * batch, 'x'.repeat(50_000));
      await vi.waitFor(() => expect(readFileSync(tries, 'utf8')).toBe('1 '.repeat(batch)), slow);
    }
  });

  test('if no thread may be started, SQLite makes them itself', async () => {
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

  test('if the thread dies, SQLite makes them itself, and no record is lost', async () => {
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

  test('a store that is closed ends its thread, and leaves one complete file', async () => {
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

  test('a store that is closed during a checkpoint leaves one complete file', async () => {
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
    // The thread has moved records into the database, and has the file open.
    await vi.waitFor(() => expect(statSync(path).size).toBeGreaterThan(SOME * BYTES_MIN), slow);
    await write(store, 2, SOME);
    await Promise.all([store.close(), store.close()]);
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(inDatabaseAlone(path)).toBe(SOME + 2);
  });

  test('a process exits by itself, although its thread waits', async () => {
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
