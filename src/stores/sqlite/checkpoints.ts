/**
 * Makes checkpoints outside of the event loop. By itself, SQLite makes one within the COMMIT that brings its log to a thousand pages, and
 * flushes two files then, which blocks the thread. Here another thread makes them, on its own connection, without hindering writers.
 */

/** A checkpoint is made after this many updates, which bring the log to about a thousand pages. */
const UPDATES = 250;
/**
 * At this many pages the thread makes the log start again from its beginning, for which writers wait a moment. By itself, the log would
 * grow without end if several processes write all the time.
 */
const PAGES_ANEW = 2000;
/** At this many pages SQLite makes a checkpoint itself: then the thread can't keep up, or a long read is in the way. */
const PAGES_MAX = 8000;
const PAGES_OF_SQLITE = 1000;
/** How long the thread waits for writers, and then makes writers wait for readers, ms. */
const IN_THE_WAY_MS = 200;

/**
 * The code of the thread. It makes one checkpoint for each message; an empty message ends it. Without a log there is nothing to do, and a
 * database file that is gone must not be created. A checkpoint that fails is not reported: the next one, or SQLite's own, makes up for it. If a
 * long read keeps the log from starting again, writers are made to wait less and less often. If only a writer was in the way, as on a busy
 * disk, everything is in the database except what was written meanwhile, and the next checkpoint tries again.
 */
const THREAD = `
const { existsSync } = require('node:fs');
const { DatabaseSync } = require('node:sqlite');
const { parentPort, workerData: path } = require('node:worker_threads');
let anew = ${PAGES_ANEW};
function checkpoint(database) {
  database.exec('PRAGMA busy_timeout = ${IN_THE_WAY_MS}');
  const { log } = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
  if (log < anew) return;
  const { busy, log: length, checkpointed } = database.prepare('PRAGMA wal_checkpoint(RESTART)').get();
  anew = busy && length - checkpointed > ${PAGES_ANEW / 2} ? 2 * log : ${PAGES_ANEW};
}
parentPort.on('message', (more) => {
  if (!more) return parentPort.close();
  let database;
  try {
    if (existsSync(path + '-wal')) checkpoint((database = new DatabaseSync(path)));
  } catch {}
  database?.close();
  parentPort.postMessage('done');
});`;

type Thread = import('node:worker_threads').Worker;
type Database = { exec(sql: string): unknown };

const builtin = <T>(name: string): T | undefined => globalThis.process.getBuiltinModule?.(name) as T | undefined;

export class Checkpoints {
  readonly #database: Database;
  readonly #path: string;
  #thread: Thread | undefined;
  #updates = 0;
  #underWay = false;
  #over = false;

  /**
   * @param database - the database whose log is checkpointed
   * @param path - its absolute path, because the process may change its working directory
   */
  constructor(database: Database, path: string) {
    this.#database = database;
    this.#path = path;
    // Only for a database of `node:sqlite`, which the thread uses: two copies of SQLite in one process would release each other's locks.
    const ours = builtin<{ DatabaseSync: abstract new () => object }>('node:sqlite')?.DatabaseSync;
    if (ours && database instanceof ours && !('Bun' in globalThis)) this.#limit(PAGES_MAX);
    else this.#over = true;
  }

  /** Counts committed updates, and asks for a checkpoint when there were enough. */
  committed(updates: number): void {
    this.#updates += updates;
    if (this.#over || this.#underWay || this.#updates < UPDATES) return;
    this.#updates = 0;
    try {
      this.#thread ??= this.#start();
      this.#underWay = true;
      this.#thread.postMessage('checkpoint');
    } catch {
      // No thread can be started here.
      this.#leaveToSqlite();
    }
  }

  /** Resolves when the checkpoint under way has ended; `undefined` if there is none. */
  close(): Promise<void> | undefined {
    this.#over = true;
    const thread = this.#thread;
    thread?.postMessage('');
    if (!thread || !this.#underWay) return undefined;
    thread.ref();
    return new Promise((resolve) => thread.once('exit', () => resolve()));
  }

  #start(): Thread {
    const { Worker } = builtin<typeof import('node:worker_threads')>('node:worker_threads') as typeof import('node:worker_threads');
    // Without the app's environment and options, so that its loaders and instrumentation do not run in this thread.
    const thread = new Worker(THREAD, { eval: true, workerData: this.#path, env: {}, execArgv: [], name: 'oncefetch checkpoints' });
    thread.on('message', () => {
      this.#underWay = false;
    });
    thread.on('error', () => {
      this.#underWay = false;
      this.#leaveToSqlite();
    });
    // The thread must not keep the process alive. Call this after adding the listeners, which would undo it.
    thread.unref();
    return thread;
  }

  #leaveToSqlite(): void {
    if (this.#over) return;
    this.#over = true;
    this.#limit(PAGES_OF_SQLITE);
  }

  #limit(pages: number): void {
    this.#database.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  }
}
