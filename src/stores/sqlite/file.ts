/** A connection to the database: opening it, its schema, and its statements. */
import type { ScanQuery } from '../../ports.js';
import { StoreFault } from '../fault.js';
import { rangeOf } from '../text.js';
import { Checkpoints } from './checkpoints.js';
import { sqliteFault } from './fault.js';
import { canFlush, LogFlush } from './flush.js';
import { patienceOf } from './patience.js';
import { inTransaction, refuseUnfit, refuseWithin } from './unfit.js';

/** The part of `node:sqlite`'s StatementSync that is used; those of better-sqlite3 and `bun:sqlite` have it too. */
export interface SqliteStatement {
  get(...values: (string | number | null)[]): unknown;
  all(...values: (string | number | null)[]): unknown[];
  run(...values: (string | number | null)[]): unknown;
  /** Only in `node:sqlite`, where an app may open its database so that rows are arrays. */
  setReturnArrays?(arrays: boolean): unknown;
}

/** The part of `node:sqlite`'s DatabaseSync that is used; the Database of better-sqlite3 and of `bun:sqlite` has it too. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
  /** In `node:sqlite`: a transaction on this connection has begun and not ended. */
  readonly isTransaction?: boolean | undefined;
  /** The same in better-sqlite3 and `bun:sqlite`. */
  readonly inTransaction?: boolean | undefined;
}

/** How long a connection may block the whole thread while it waits for another one's commit, ms. Longer waits are made without blocking. */
const STANDSTILL_MS = 10;
/** The same if strict commits are flushed after the lock is released. */
const TURN_MS = 2;
/** The time between two tries for the lock: such a commit holds it for only about a tenth of a millisecond. */
const STEP_MS = 0.05;
/** How long a checkpoint waits for connections that read, ms. */
const CHECKPOINT_MS = 50;

/** SQLite's path for a database without a file. */
export const MEMORY = ':memory:';

/** Levels of `PRAGMA synchronous`. With a write-ahead log, a NORMAL commit survives the end of the process, a FULL one a crash of the machine. */
const NORMAL = 1;
const FULL = 2;

/** The steps of the schema. Each leads from the version that is its index to the next one. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE oncefetch_records (id TEXT PRIMARY KEY, ns TEXT, state TEXT, label TEXT, forget_at REAL, data TEXT);
CREATE INDEX oncefetch_records_place ON oncefetch_records (ns, state, label, id);
CREATE INDEX oncefetch_records_time ON oncefetch_records (forget_at);`,
];

/** The version of the schema that this code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** A row of `oncefetch_records`; text columns but `data` are `ordered`. */
export interface Row {
  readonly id: string;
  readonly label: string;
  readonly data: unknown;
}

/** An open connection and its statements. Each is prepared only once, because preparing it takes longer than running it. */
export interface SqliteFile {
  readonly database: SqliteDatabase;
  /** Absent if SQLite itself must flush strict commits. */
  readonly flush: LogFlush | undefined;
  /** Begins a transaction: takes SQLite's lock for its only writer. */
  begin(): void;
  /** Must be told how many updates were committed. */
  committed(updates: number): void;
  /** Throws if the schema has been brought to a version that this code does not know. */
  check(): void;
  /** Sets whether the next commit must be on the disk (`strict`) or need not be. */
  sync(strict: boolean): void;
  /** Gives the app's own connection its settings back. */
  restore(): void;
  get(id: string): { readonly data: unknown } | undefined;
  put(id: string, ns: string, state: string, label: string, forgetAt: number, data: string): void;
  remove(id: string): void;
  page(query: Extract<ScanQuery, { ns: string }>, ns: string): Row[];
  due(before: number, count: number, offset: number): Row[];
  /** Gives a promise if closing takes a moment. */
  close(): Promise<void> | undefined;
}

/** Opens a connection of our own. */
export function openFile(scope: string, path: string, Database: new (path: string) => SqliteDatabase): SqliteFile {
  const database = new Database(path);
  try {
    // Without `fullfsync`, Apple's fsync leaves data in the disk's cache. On other systems it has no meaning.
    database.exec(`PRAGMA busy_timeout = ${STANDSTILL_MS}; PRAGMA journal_mode = WAL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON`);
    return fileOf(scope, database, path);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Prepares a statement whose rows are objects, even if the app has set its connection up for arrays. Numbers may still be bigints. */
function prepared(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  statement.setReturnArrays?.(false);
  return statement;
}

const VERSION = 'SELECT version FROM oncefetch_schema';
const versionIn = (statement: SqliteStatement): number => Number((statement.get() as { version: number | bigint }).version);

/** Brings a connection's schema up to date, and prepares its statements. `path`: given if the connection is our own, which we may set up and close. */
export function fileOf(scope: string, database: SqliteDatabase, path?: string): SqliteFile {
  const own = path !== undefined;
  migrate(scope, database);
  const version = prepared(database, VERSION);
  const get = prepared(database, 'SELECT data FROM oncefetch_records WHERE id = ?');
  const put = prepared(
    database,
    `INSERT INTO oncefetch_records (id, ns, state, label, forget_at, data) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET ns = excluded.ns, state = excluded.state, label = excluded.label, forget_at = excluded.forget_at, data = excluded.data`,
  );
  const remove = prepared(database, 'DELETE FROM oncefetch_records WHERE id = ?');
  const page = prepared(
    database,
    'SELECT id, label, data FROM oncefetch_records WHERE ns = ? AND state = ? AND (label, id) > (?, ?) AND label < ? ORDER BY label, id LIMIT ?',
  );
  const due = prepared(database, 'SELECT id, label, data FROM oncefetch_records WHERE forget_at < ? ORDER BY forget_at LIMIT ? OFFSET ?');
  // With less than FULL, only a database with a write-ahead log can't be corrupted.
  const wal = (prepared(database, 'PRAGMA journal_mode').get() as { journal_mode: string }).journal_mode === 'wal';
  const theirs = Number((prepared(database, 'PRAGMA synchronous').get() as { synchronous: number | bigint }).synchronous);
  const flush = own && wal && path !== MEMORY && canFlush() ? new LogFlush(scope, path, checkpointOf(database)) : undefined;
  if (flush) database.exec('PRAGMA busy_timeout = 0');
  const checkpoints = flush && new Checkpoints(database, flush.path);
  const patience = own ? undefined : patienceOf(database, prepared(database, 'PRAGMA busy_timeout'));
  let level = theirs;
  const setLevel = (next: number): void => {
    if (next !== level) database.exec(`PRAGMA synchronous = ${next}`);
    level = next;
  };
  return {
    database,
    flush,
    begin: () => beginIn(scope, database, flush ? TURN_MS : 0),
    committed: (updates) => checkpoints?.committed(updates),
    check: () => refuseNewer(scope, versionIn(version)),
    sync(strict) {
      const wanted = strict || !wal ? FULL : NORMAL;
      // Never less than what the app has set for its own connection.
      setLevel(own ? wanted : Math.max(wanted, theirs));
      patience?.lower(STANDSTILL_MS);
    },
    restore() {
      if (!own) setLevel(theirs);
      patience?.restore();
    },
    get: (id) => get.get(id) as { data: unknown } | undefined,
    put: (...row) => void put.run(...row),
    remove: (id) => void remove.run(id),
    page(query, ns) {
      const { label, id, end } = rangeOf(query);
      return page.all(ns, query.state, label, id, end, query.limit + 1) as Row[];
    },
    due: (before, count, offset) => due.all(before, count, offset) as Row[],
    close() {
      flush?.close();
      const end = (): void => {
        if (own) database.close();
      };
      // The last connection to close merges the log into the file. So wait for a checkpoint under way, or the log would stay beside the file.
      const ended = checkpoints?.close()?.then(end);
      if (!ended) end();
      return ended;
    },
  };
}

/** Takes the lock, and waits for it up to `patienceMs`, in short blocking steps: with longer pauses, other processes would always be faster. */
function beginIn(scope: string, database: SqliteDatabase, patienceMs: number): void {
  const start = performance.now();
  for (let waited = 0; ; waited += STEP_MS) {
    try {
      database.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      // Measured by the clock, too, because on a busy machine a step takes much longer than it should. A test's fake clock may stand still.
      if (Math.max(waited, performance.now() - start) >= patienceMs || sqliteFault(scope, error).reason !== 'blocked') throw error;
    }
    // Made here, because a script from which Node builds a snapshot has no SharedArrayBuffer.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STEP_MS);
  }
}

/** Brings the whole log into the database, and both to the disk. */
const checkpointOf = (database: SqliteDatabase) => (): boolean => {
  database.exec(`PRAGMA busy_timeout = ${CHECKPOINT_MS}`);
  try {
    const { busy, log, checkpointed } = prepared(database, 'PRAGMA wal_checkpoint(FULL)').get() as Record<string, number | bigint>;
    return !busy && log === checkpointed;
  } finally {
    database.exec('PRAGMA busy_timeout = 0');
  }
};

/**
 * Brings the schema to its present version. The version is in a table of its own, not in `user_version`, because in a database of the
 * app that may be used by the app's own migrations.
 */
function migrate(scope: string, database: SqliteDatabase): void {
  refuseUnfit(scope, database, prepared(database, 'SELECT 1 AS one'));
  const versionNow = (): number => {
    const there = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'oncefetch_schema'").get();
    return there ? versionIn(prepared(database, VERSION)) : 0;
  };
  // Check without a lock first, so that opening writes nothing if the schema is up to date.
  const version = versionNow();
  refuseNewer(scope, version);
  if (version === SCHEMA_VERSION) return;
  refuseWithin(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster.
    const found = versionNow();
    refuseNewer(scope, found);
    if (!found) database.exec('CREATE TABLE oncefetch_schema (version INTEGER NOT NULL); INSERT INTO oncefetch_schema VALUES (0)');
    for (const step of MIGRATIONS.slice(found)) database.exec(step);
    database.exec(`UPDATE oncefetch_schema SET version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (error) {
    if (inTransaction(database)) database.exec('ROLLBACK');
    throw error;
  }
}

function refuseNewer(scope: string, version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new StoreFault(
    'newer',
    `${scope} was written by a newer version of oncefetch (schema ${version}, this is ${SCHEMA_VERSION}); nothing was changed, update oncefetch here`,
  );
}

type Opens = new (path: string) => SqliteDatabase;

/** `bun:sqlite` or `node:sqlite`, found without an import, because bundlers for browsers fail on such imports. */
export function builtin(): Opens | undefined {
  const { getBuiltinModule } = (globalThis.process ?? {}) as { getBuiltinModule?(name: string): { Database?: Opens; DatabaseSync?: Opens } | undefined };
  return getBuiltinModule?.('bun:sqlite')?.Database ?? getBuiltinModule?.('node:sqlite')?.DatabaseSync;
}
