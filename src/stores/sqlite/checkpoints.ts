/**
 * Checkpoints, beside the event loop. SQLite makes one within the COMMIT that brings its log to a thousand pages, and flushes two files
 * meanwhile, while the thread stands still. Here another thread makes them, on a connection of its own, which hinders nobody who writes.
 */

/** So many updates bring the log to about as many pages as SQLite lets it have. */
const UPDATES = 250;
/** A log of so many pages begins anew, for which writers wait a moment: while several processes always write, it never would by itself. */
const PAGES_ANEW = 2000;
/** At so many pages SQLite makes a checkpoint itself: the thread can't keep up, or somebody reads for long. */
const PAGES_MAX = 8000;
const PAGES_OF_SQLITE = 1000;
/** So long the thread waits for writers, and then makes them wait for readers. */
const IN_THE_WAY_MS = 200;

/**
 * One checkpoint for each message; an empty one ends the thread. Without a log there is nothing to do, and a file that is gone is not made anew.
 * One that fails says nothing: the log stays as it is until the next one, or until SQLite's own. Where somebody reads for long, the log can't
 * begin anew, and writers are made to wait less and less often. Where only a writer was in the way, as on a busy disk, all is in the database but
 * what was written meanwhile: the next one tries again.
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
   * @param database - whose log it is about
   * @param path - where it is, whatever the process does to its folder
   */
  constructor(database: Database, path: string) {
    this.#database = database;
    this.#path = path;
    // Two copies of SQLite in one process take each other's locks away.
    const ours = builtin<{ DatabaseSync: abstract new () => object }>('node:sqlite')?.DatabaseSync;
    if (ours && database instanceof ours && !('Bun' in globalThis)) this.#limit(PAGES_MAX);
    else this.#over = true;
  }

  /** So many updates were committed. */
  committed(updates: number): void {
    this.#updates += updates;
    if (this.#over || this.#underWay || this.#updates < UPDATES) return;
    this.#updates = 0;
    try {
      this.#thread ??= this.#start();
      this.#underWay = true;
      this.#thread.postMessage('checkpoint');
    } catch {
      // Threads are not allowed here.
      this.#leaveToSqlite();
    }
  }

  /** Resolves when a checkpoint that is under way has ended; `undefined` where there is none. */
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
    // Neither loaders nor instruments of the application: they are not for this thread.
    const thread = new Worker(THREAD, { eval: true, workerData: this.#path, env: {}, execArgv: [], name: 'oncefetch checkpoints' });
    thread.on('message', () => {
      this.#underWay = false;
    });
    thread.on('error', () => {
      this.#underWay = false;
      this.#leaveToSqlite();
    });
    // No process waits for it to end: a listener would keep it.
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
