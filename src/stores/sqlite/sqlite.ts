/** Records in an SQLite file: the store of Node, for all processes of one machine. */
import type { ScanPage, ScanQuery, Store } from '../../ports.js';
import { type Claims, createStore } from '../base.js';
import { StoreFault } from '../fault.js';
import { dueOf, ordered, pageOfPlaces, recordOf } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { GroupCommit, patiently, type Waiting } from './commit.js';
import { builtin, fileOf, MEMORY, openFile, type Row, type SqliteDatabase, type SqliteFile } from './file.js';
import { Holder } from './holder.js';

export type { SqliteDatabase, SqliteStatement } from './file.js';

/** A file of the store's own. */
export interface SqlitePathOptions {
  /** Where the file is, or shall be; its folder must exist. On a local disk, not a network share. */
  readonly path: string;
  /** What opens it. @default DatabaseSync of `node:sqlite`, in Bun Database of `bun:sqlite` */
  readonly Database?: (new (path: string) => SqliteDatabase) | undefined;
  /** How long to wait for other processes that write, ms; at most 10_000. @default 5_000 */
  readonly busyTimeoutMs?: number | undefined;
  readonly database?: undefined;
}

/** A database that is open already, and stays its owner's to set up and to close. */
export interface SqliteDatabaseOptions {
  /** A DatabaseSync of `node:sqlite`, or a Database of better-sqlite3 or `bun:sqlite`. */
  readonly database: SqliteDatabase & { location?(): string | null; readonly name?: string | undefined; readonly filename?: string | undefined };
  /** How long to wait for other connections that write, ms; at most 10_000. @default 5_000 */
  readonly busyTimeoutMs?: number | undefined;
  readonly path?: undefined;
}

/** Where the records are: in a file of the store's own, or in a database that is open already. */
export type SqliteStoreOptions = SqlitePathOptions | SqliteDatabaseOptions;

const BUSY_MS_MAX = 5000;

/**
 * A store in an SQLite file, which all processes of one machine share. Updates of one turn of the event loop go out in
 * one commit. A strict one is on the disk before it resolves; relaxed ones alone leave that to the operating system: they
 * outlive the process, and perhaps not a power cut.
 *
 * @throws TypeError where neither or both of `path` and `database` are given; RangeError where `busyTimeoutMs` is longer than a call waits
 * @example
 * const once = createOnce({ store: sqliteStore({ path: './oncefetch.db' }) });
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const { path, database } = options;
  const busyTimeoutMs = timeLimit('busyTimeoutMs', options.busyTimeoutMs ?? BUSY_MS_MAX);
  if ((typeof path === 'string' && path !== '') === (typeof database?.prepare === 'function'))
    throw new TypeError('once: sqliteStore takes either path, a non-empty string, or database, a DatabaseSync of node:sqlite');
  // It may say that the file is in memory, or read-only.
  if (path?.startsWith('file:')) throw new TypeError('once: sqliteStore takes a plain path, not a file: URI');
  // From here on: what the process does to its working folder later makes no other file of it.
  const at = pathOf(options);
  const claims = claimsOf(options, at);
  const { scope } = claims;
  let file: SqliteFile | undefined;
  let closed = false;
  let ended: Promise<void> | undefined;
  const open = (): SqliteFile => {
    // A read may wait for others while it is closed.
    if (closed) throw new StoreFault('closed', `${scope} is closed`);
    file ??= database ? fileOf(scope, database) : openFile(scope, at ?? MEMORY, constructorOf(options));
    return file;
  };
  const waiting: Waiting = { scope, busyTimeoutMs, file: open };
  const commits = new GroupCommit(waiting);
  const holder = at === undefined ? undefined : new Holder(at, () => constructorOf(database ? {} : options));
  const store = createStore(claims, {
    update: (id, next, durability) => commits.update(id, next, durability),
    async read(id) {
      const found = await patiently(waiting, ({ get, flush }) => {
        const settled = flush?.settled();
        return { record: recordOf(get(ordered(id))?.data), settled };
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
    // Only where there is no SQLite is there no store. A file that can't be opened has keys in it, for all that is known.
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
      'there is no node:sqlite here; it comes with Node 22.5. Hand in a database, such as one of better-sqlite3: sqliteStore({ database })',
    );
  return Database;
}

/** Numbers for databases that have no name: in memory, each is another one. */
let unnamed = 0;
const numbers = new WeakMap<object, number>();

/** Where the file is, one name however it is reached; `undefined`: in memory. */
function pathOf({ path, database }: SqliteStoreOptions): string | undefined {
  const at = path ?? (database?.location ? database.location() : (database?.name ?? database?.filename));
  return at && at !== MEMORY ? absolute(at) : undefined;
}

function claimsOf({ database }: SqliteStoreOptions, at: string | undefined): Claims {
  if (at !== undefined) return { kind: 'sqlite', scope: `sqlite:${at}`, survives: 'machine', shared: 'machine', atomic: true };
  const number = (database && numbers.get(database)) ?? ++unnamed;
  if (database) numbers.set(database, number);
  return { kind: 'sqlite', scope: `sqlite:memory-${number}`, survives: 'context', shared: 'context', atomic: true };
}

/** The file itself, where a link leads to it; it may not be there yet. */
function absolute(path: string): string {
  const { getBuiltinModule } = globalThis.process;
  const [{ realpathSync }, { resolve, dirname, basename, join }] = [getBuiltinModule('node:fs'), getBuiltinModule('node:path')];
  const full = resolve(path);
  for (const [known, rest] of [
    [full, ''],
    [dirname(full), basename(full)],
  ] as const) {
    try {
      return join(realpathSync(known), rest);
    } catch {}
  }
  return full;
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
