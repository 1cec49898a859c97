/** Records in a Durable Object's own database, to which only one instance has access at a time. */
import type { Durability, Store } from '../../ports.js';
import { createStore, type Next } from '../base.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { ordered, recordOf, textOf } from '../text.js';
import { type CloudflareTable, cloudflareFault, nameOf, type Rows, scanTable } from './table.js';

/** The part of a Durable Object's `ctx.storage` that is used. */
export interface DurableObjectStorageLike {
  readonly sql: { exec(query: string, ...bindings: (string | number | null)[]): { toArray(): Record<string, unknown>[] } };
  transactionSync<T>(work: () => T): T;
  sync(): Promise<void>;
}

/** The schema that this code reads and writes. */
const SCHEMA_VERSION = 1;
const SCHEMAS = 'oncefetch_schemas';

/** Wraps what a change threw, so that it rolls the transaction back and is not taken for an error of the database. */
class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * A store in a Durable Object, for clients that are made in it. Its storage is transactional, and only one instance has it at a time:
 * two requests for the same name meet in it wherever they come from, and an instance that takes over does not wait for the leases of
 * the previous one. A strict update resolves when the storage has confirmed it.
 *
 * @param storage - `ctx.storage` of a Durable Object whose class is listed in `new_sqlite_classes`
 * @throws TypeError if `storage` has no SQL, or `table` is not a valid name
 * @example
 * const store = durableObjectStore(ctx.storage);
 */
export function durableObjectStore(storage: DurableObjectStorageLike, options: CloudflareTable = {}): Store {
  if (typeof (storage as Partial<DurableObjectStorageLike> | null)?.transactionSync !== 'function' || !storage.sql)
    throw new TypeError('once: durableObjectStore takes ctx.storage of a Durable Object with SQLite: list its class in new_sqlite_classes');
  const table = nameOf(options, 'durableObjectStore', {});
  const scope = `durable-object:${numberOf(storage)}:${table}`;
  const rows = (sql: string, ...values: (string | number | null)[]): Rows => storage.sql.exec(sql, ...values).toArray();
  let ready = false;
  const open = (): void => {
    if (!ready) storage.transactionSync(() => migrate(scope, table, rows));
    ready = true;
  };
  /** Does `work` on the table. Errors count as the database's, unless they are {@link Thrown}. */
  const guarded = <T>(work: () => T): T => {
    const wasReady = ready;
    try {
      open();
      return work();
    } catch (thrown) {
      if (thrown instanceof Thrown) throw thrown.error;
      ready = false;
      // The app has emptied its storage by `deleteAll`, and removed the table with it.
      if (wasReady && /no such table/.test(String(thrown))) return guarded(work);
      throw cloudflareFault(scope, thrown);
    }
  };
  const update = async (id: string, next: (current: unknown) => Next, durability: Durability): Promise<void> => {
    guarded(() => storage.transactionSync(() => apply(table, rows, id, next)));
    if (durability === 'strict') await storage.sync().catch((error) => Promise.reject(cloudflareFault(scope, error)));
  };
  const store = createStore(
    { kind: 'durable-object', scope, survives: 'machine', shared: 'context', atomic: true, ownClock: true },
    {
      update,
      read: (id) => guarded(() => recordOf(rows(`SELECT data FROM ${table} WHERE id = ?`, ordered(id))[0]?.['data'])),
      scan: (query) => scanTable(table, query, (sql, ...values) => guarded(() => rows(sql, ...values))),
    },
  );
  return {
    ...store,
    storedIn: () => 'disk',
    holder: async () => nameOfInstance(storage),
    // Any other name is that of an earlier instance.
    isGone: async (holder) => holder !== nameOfInstance(storage),
  };
}

const REALM = Symbol.for('oncefetch.realm');

/** The name of the instance that has this storage now. It is made at the first lease, because outside of a request no random numbers are available. */
function nameOfInstance(storage: object): string {
  const realm = globalThis as { [REALM]?: string };
  realm[REALM] ??= crypto.randomUUID();
  return `${realm[REALM]}${numberOf(storage)}`;
}

/** Makes one change of one record. If the change throws, throws {@link Thrown}. */
function apply(table: string, rows: (sql: string, ...values: (string | number | null)[]) => Rows, id: string, next: (current: unknown) => Next): void {
  const key = ordered(id);
  const current = recordOf(rows(`SELECT data FROM ${table} WHERE id = ?`, key)[0]?.['data']);
  let record: Next;
  try {
    record = next(current);
  } catch (error) {
    throw new Thrown(error);
  }
  if (record === null) rows(`DELETE FROM ${table} WHERE id = ?`, key);
  if (record)
    rows(
      `INSERT OR REPLACE INTO ${table} (id, ns, state, label, forget_at, data) VALUES (?, ?, ?, ?, ?, ?)`,
      key,
      ordered(record.ns),
      ordered(record.state),
      ordered(record.label),
      record.forgetAt,
      textOf(record),
    );
}

/** Makes the table if it is missing, and refuses one of a newer version. */
function migrate(scope: string, table: string, rows: (sql: string, ...values: (string | number | null)[]) => Rows): void {
  rows(`CREATE TABLE IF NOT EXISTS ${SCHEMAS} (name TEXT PRIMARY KEY, version INTEGER NOT NULL)`);
  const version = Number(rows(`SELECT version FROM ${SCHEMAS} WHERE name = ?`, table)[0]?.['version'] ?? 0);
  if (version > SCHEMA_VERSION)
    throw new StoreFault(
      'newer',
      `${scope} was written by a newer version of oncefetch (schema ${version}, this is ${SCHEMA_VERSION}); nothing was changed, update oncefetch here`,
    );
  if (version === SCHEMA_VERSION) return;
  rows(`CREATE TABLE ${table} (id TEXT PRIMARY KEY, ns TEXT, state TEXT, label TEXT, forget_at REAL, data TEXT)`);
  rows(`CREATE INDEX ${table}_place ON ${table} (ns, state, label, id)`);
  rows(`CREATE INDEX ${table}_time ON ${table} (forget_at)`);
  rows(`INSERT INTO ${SCHEMAS} VALUES (?, ?)`, table, SCHEMA_VERSION);
}
