/** Records in an SQLite file: the store for Node, shared by all processes of one machine. */
import type { ScanPage, ScanQuery, Store } from '../../ports.js';
import { type Claims, createStore } from '../base.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { onlyOptions } from '../only-options.js';
import { dueOf, ordered, pageOfPlaces, recordOf } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { GroupCommit, patiently, type Waiting } from './commit.js';
import { builtin, fileOf, MEMORY, openFile, type Row, type SqliteDatabase, type SqliteFile } from './file.js';
import { Holder } from './holder.js';
import { journalOf, refuseWithin, withJournal } from './unfit.js';

export type { SqliteDatabase, SqliteStatement } from './file.js';

/** Options of a store that opens its own file. */
export interface SqlitePathOptions {
  /** Where the file is or will be made. Its folder must exist, on a local disk, not a network share. */
  readonly path: string;
  /** The class that opens the file. @default DatabaseSync of `node:sqlite`, in Bun Database of `bun:sqlite` */
  readonly Database?: (new (path: string) => SqliteDatabase) | undefined;
  /** How long to wait for other processes that write, ms; at most 10_000. @default 5_000 */
  readonly busyTimeoutMs?: number | undefined;
  readonly database?: undefined;
}

/** Options of a store in a database that your app has opened, and that your app sets up and closes itself. */
export interface SqliteDatabaseOptions {
  /** A DatabaseSync of `node:sqlite`, or a Database of better-sqlite3 or `bun:sqlite`. */
  readonly database: SqliteDatabase & { location?(): string | null; readonly name?: string | undefined; readonly filename?: string | undefined };
  /** How long to wait for other connections that write, ms; at most 10_000. @default 5_000 */
  readonly busyTimeoutMs?: number | undefined;
  readonly path?: undefined;
}

/** Where the records are: in a file that the store opens, or in a database that is open already. */
export type SqliteStoreOptions = SqlitePathOptions | SqliteDatabaseOptions;

const BUSY_MS_MAX = 5000;

/**
 * A store in an SQLite file, shared by all processes of one machine. Updates of one turn of the event loop share a commit. A strict
 * update is on the disk before it resolves. A commit of relaxed updates only is left to the operating system: it survives the end of
 * the process, but perhaps not a power cut.
 *
 * @throws TypeError if neither or both of `path` and `database` are given; RangeError if `busyTimeoutMs` is longer than a call waits
 * @example
 * const once = createOnce({ store: sqliteStore({ path: './oncefetch.db' }) });
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  onlyOptions('sqliteStore', options, { path: 'string', Database: 'function', database: 'object', busyTimeoutMs: 'number' });
  const { path, database } = options;
  const busyTimeoutMs = timeLimit('busyTimeoutMs', options.busyTimeoutMs ?? BUSY_MS_MAX);
  if ((typeof path === 'string' && path !== '') === (typeof database?.prepare === 'function'))
    throw new TypeError('once: sqliteStore takes either path, a non-empty string, or database, a DatabaseSync of node:sqlite');
  // A URI could make the database read-only or keep it in memory.
  if (path?.startsWith('file:')) throw new TypeError('once: sqliteStore takes a plain path, not a file: URI');
  // Resolve the path now, because the process may change its working directory before the first use.
  const at = pathOf(options);
  const claims = claimsOf(options, at);
  const { scope } = claims;
  let file: SqliteFile | undefined;
  const refuseMoved = watchOf(at, database);
  let closed = false;
  let ended: Promise<void> | undefined;
  const open = (): SqliteFile => {
    // The store may be closed while a read waits for others.
    if (closed) throw new StoreFault('closed', `${scope} is closed`);
    file ??= database ? fileOf(scope, at === undefined ? database : withJournal(scope, database)) : openFile(scope, at ?? MEMORY, constructorOf(options));
    refuseMoved(file.database);
    return file;
  };
  const waiting: Waiting = { scope, busyTimeoutMs, file: open };
  const commits = new GroupCommit(waiting);
  const holder = at === undefined ? undefined : new Holder(at, () => constructorOf(database ? {} : options));
  const store = createStore(claims, {
    update: (id, next, durability) => commits.update(id, next, durability),
    async read(id) {
      const found = await patiently(waiting, ({ database, get, flush }) => {
        // A read inside a transaction of the app's would not see what other processes have stored since that began.
        refuseWithin(database);
        return { settled: flush?.settled(), record: recordOf(get(ordered(id))?.data) };
      });
      await found.settled;
      return found.record;
    },
    scan: (query) => scan(waiting, query),
    close() {
      commits.end();
      closed = true;
      holder?.close();
      ended ??= file?.close();
      file = undefined;
    },
  });
  return {
    ...store,
    close: async () => {
      await store.close();
      await ended;
    },
    ...(holder && { holder: async () => holder.name(), isGone: async (name) => holder.isGone(name) }),
    // `false` only if there is no SQLite at all. A file that can't be opened may have keys in it, so then this rejects.
    available: async () => {
      if (!database && !options.Database && !builtin()) return false;
      await patiently(waiting, () => undefined);
      return true;
    },
  };
}

function constructorOf({ Database = builtin() }: { readonly Database?: SqlitePathOptions['Database'] }): new (path: string) => SqliteDatabase {
  if (!Database)
    throw new StoreFault(
      'denied',
      'there is no node:sqlite here; it comes with Node 22.16. Hand in a database, such as one of better-sqlite3: sqliteStore({ database })',
    );
  return Database;
}

/** The absolute path of the file; `undefined` if the database is in memory. */
function pathOf({ path, database }: SqliteStoreOptions): string | undefined {
  const at = path ?? (database?.location ? database.location() : (database?.name ?? database?.filename));
  return at && at !== MEMORY ? absolute(at) : undefined;
}

function claimsOf({ database }: SqliteStoreOptions, at: string | undefined): Claims {
  if (at !== undefined) return { kind: 'sqlite', scope: `sqlite:${at}`, survives: 'machine', shared: 'machine', atomic: true };
  // A database in memory has no name.
  return { kind: 'sqlite', scope: `sqlite:memory-${numberOf(database ?? {})}`, survives: 'context', shared: 'context', atomic: true };
}

/** The absolute path, the same one however the file is reached. The file may not exist yet, though a link to it does. */
function absolute(path: string): string {
  const { getBuiltinModule } = globalThis.process;
  const [{ readlinkSync, realpathSync }, { resolve, dirname, basename, join }] = [getBuiltinModule('node:fs'), getBuiltinModule('node:path')];
  let full = resolve(path);
  try {
    return realpathSync(full);
  } catch {}
  try {
    full = join(realpathSync(dirname(full)), basename(full));
    return absolute(resolve(dirname(full), readlinkSync(full)));
  } catch {
    return full;
  }
}

/**
 * Gives a function that throws if the file was removed or replaced since the first call, or since now if the app has opened it. It can still be written
 * then, but no other process finds what is in it. The same for the log and its index: another copy of SQLite in this process does not see our connection,
 * and may remove them.
 */
function watchOf(at: string | undefined, opened: SqliteDatabase | undefined): (database: SqliteDatabase) => void {
  const parts = at === undefined ? [] : [at, `${at}-wal`, `${at}-shm`];
  const inodes = new Map<string, number | undefined>();
  if (at !== undefined && opened) inodes.set(at, inodeOf(at));
  return (database) => {
    for (const part of parts) {
      const present = inodeOf(part);
      const noted = inodes.get(part);
      // There is a log only while it is needed. The app may also have ended that of its own database by itself, and begun another one since.
      const known = (part === at ? noted : noted || present) ?? present;
      if (present !== undefined && present !== known && (part === at || (journalOf(database) === 'wal' && !isAnew(known, present))))
        throw new StoreFault('io', `sqlite:${part} was removed or replaced while it was open; restart this process to use what is there now`);
      inodes.set(part, present ?? known);
    }
  };
}

/** Whether this process has opened the file anew: it has nothing open any more of the one with the number `known`. Only Linux tells; elsewhere, `false`. */
function isAnew(known: number | undefined, present: number): boolean {
  try {
    const { readdirSync } = globalThis.process.getBuiltinModule('node:fs');
    const open = readdirSync('/proc/self/fd').map((one) => inodeOf(`/proc/self/fd/${one}`));
    return ![known, undefined].some((inode) => open.includes(inode)) && (!present || open.includes(present));
  } catch {
    return false;
  }
}

/** Which file is there: its number in the file system, 0 if there is none; `undefined` if that can't be told. */
function inodeOf(path: string): number | undefined {
  try {
    return globalThis.process.getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
  } catch {
    return undefined;
  }
}

async function scan(waiting: Waiting, query: ScanQuery): Promise<ScanPage> {
  const record = ({ data }: Row): unknown => recordOf(data);
  if ('before' in query) return dueOf((offset, count) => patiently(waiting, ({ due }) => due(query.before, count, offset).map(record)), query);
  const rows = await patiently(waiting, ({ page }) => page(query, ordered(query.ns)));
  return pageOfPlaces(
    rows.map((row) => ({ label: row.label, id: row.id, record: record(row) })),
    query,
  );
}
