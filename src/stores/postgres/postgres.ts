/** Records in PostgreSQL: a store for many machines. */
import { typeOf } from '../../core/name.js';
import { readRecord } from '../../core/record.js';
import type { ScanPage, ScanQuery, Store } from '../../ports.js';
import { type Claims, createStore } from '../base.js';
import type { Answer, Attempt } from '../compare-and-set.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { OptimisticUpdater } from '../optimistic-updater.js';
import { asciiOf, dueOf, ordered, pageOfPlaces, rangeOf, recordOf, unordered } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { batched, type Query, type Ready, type Row, seenOf } from './batch.js';
import { type PostgresClient, postgresFault, stateOf } from './fault.js';
import { queryOf } from './query.js';
import { LOCK_MS_MAX, type PostgresTable, SCHEMA_VERSION, type Statements, statementsOf, tableOf } from './sql.js';

export type { PostgresClient } from './fault.js';
export { type PostgresTable, postgresMigration } from './sql.js';

/** How a PostgreSQL store keeps its records. */
export interface PostgresStoreOptions extends PostgresTable {
  /** How long a call may take, ms; at most 10_000. @default 5_000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Use named (prepared) statements, so that the server plans each one only once per connection, which halves its work for an update.
   * For `pg` only. If a pooler loses the names, the store goes on without them. @default false
   */
  readonly prepare?: boolean | undefined;
}

/** A store with a method that removes all due records at once. */
export interface PostgresStore extends Store {
  /**
   * Removes all settled records that may be forgotten by now, in statements of `limit` rows each. Clients sweep by themselves, a
   * little at a time; this is for a nightly job. Records that never settled, and damaged ones, are kept.
   *
   * @returns how many were removed
   * @throws RangeError where `limit` is less than 1, or `before` is NaN
   * @example
   * await store.sweep();
   */
  sweep(options?: {
    /** Rows per statement. @default 500 */
    readonly limit?: number | undefined;
    /** Wall clock, ms. @default now, by the server's clock */
    readonly before?: number | undefined;
  }): Promise<number>;
}

const TIMEOUT_MS = 5000;
const SWEEP_ROWS = 500;
const CHECK_EVERY_MS = 60_000;
/** SQLSTATE for a column that is not there. A newer schema has renamed one, so that the statements of older versions fail. */
const NO_COLUMN = '42703';

/**
 * A store in PostgreSQL, shared by all machines that reach it. An update usually takes one statement with its own commit, so `client`
 * must not be in the middle of a transaction. The table is made by {@link postgresMigration}.
 *
 * @param client - a Pool of `pg`, or anything with the same `query(text, values)`; you close it yourself
 * @throws TypeError if `client` has no `query`, or `table` or `schema` is not a valid name; RangeError if `timeoutMs` is longer than a call waits
 * @example
 * await pool.query(postgresMigration());
 * const once = createOnce({ namespace: 'billing', store: postgresStore(pool) });
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): PostgresStore {
  if (typeof (client as Partial<PostgresClient> | null)?.query !== 'function')
    throw new TypeError(`once: postgresStore takes a Pool or Client of pg, or what has its query(text, values), got ${typeOf(client)}`);
  const name = tableOf(options);
  const { prepare = false } = options;
  const timeoutMs = timeLimit('timeoutMs', options.timeoutMs ?? TIMEOUT_MS);
  const scope = `postgres:${numberOf(client)}:${name}`;
  const sql = statementsOf(name);
  // The limit of one query: half of the time, so that another connection can be tried; but longer than a statement waits for a locked row.
  const query = queryOf(client, prepare, Math.max(timeoutMs / 2, 2 * LOCK_MS_MAX));
  const check = schemaCheck(scope, name, query, sql);
  const rows: Query = async (text, ...values) => {
    await check();
    return query(text, ...values).catch(async (error) => {
      // A process of a newer version may have upgraded the table meanwhile.
      if (stateOf(error) === NO_COLUMN) await check(true);
      throw error;
    });
  };
  const fault = (error: unknown): StoreFault => postgresFault(scope, client, error);
  const guesses = new OptimisticUpdater(
    {
      attempt: batched(rows, check, sql, (attempt) => send(rows, check, sql, attempt)),
      read: async (id) => seenOf((await rows(sql.read, ordered(id)))[0]),
      fault,
    },
    timeoutMs,
  );
  // A strict commit is in the log on the server's disk, and on those of synchronous standbys, if there are any.
  const claims: Claims = {
    kind: 'postgres',
    scope,
    survives: 'machine',
    shared: 'cluster',
    atomic: true,
    ownClock: true,
    ...(isInMemory(client) && IN_MEMORY),
  };
  const inTime: Query = (text, ...values) => guesses.look(() => rows(text, ...values));
  const store = createStore(
    claims,
    {
      update: (id, next, durability) => guesses.update(id, next, durability),
      read: (id) => guesses.read(id),
      scan: (query) => scan(inTime, sql, guesses, query),
    },
    () => guesses.clock.said,
  );
  return {
    ...store,
    async sweep({ limit = SWEEP_ROWS, before } = {}) {
      // With 0 rows at a time, the sweep would never end.
      if (!(limit >= 1)) throw new RangeError(`once: sweep.limit must be at least 1, got ${limit}`);
      // To PostgreSQL every time is before NaN, so all settled records would go.
      if (Number.isNaN(before)) throw new RangeError('once: sweep.before must be a time in ms, got NaN');
      return sweep(inTime, sql, before, limit);
    },
  };
}

const IN_MEMORY = { survives: 'context', shared: 'context' } as const;

/** Whether the client is a PGlite that keeps its database in memory: one without a folder. */
function isInMemory(client: PostgresClient): boolean {
  const { dataDir } = client as { dataDir?: unknown };
  return 'dataDir' in client && /^(undefined$|memory:)/.test(String(dataDir));
}

async function send(rows: Query, ready: Ready, sql: Statements, { id, expected, now, offMs, next, rev, text, durability }: Attempt): Promise<Answer> {
  const [key, relaxed] = [ordered(id), durability === 'relaxed'];
  const asked = [key, now, offMs, relaxed];
  let answer: readonly Row[];
  if (next) {
    const row = [rev, ...[next.ns, next.state, next.label].map(ordered), next.forgetAt, (await ready())(text)];
    answer = expected ? await rows(sql.update, ...asked, ...row, expected.rev) : await rows(sql.insert, ...asked, ...row);
  } else if (next === null && expected) answer = await rows(sql.remove, ...asked, expected.rev);
  // No change, or the removal of a record that is not there: only check the guesses.
  else answer = await rows(sql.keep, key, now, offMs, expected?.rev ?? null);
  const [row] = answer;
  return { done: row?.done === '1', now: Number(row?.now), seen: seenOf(row) };
}

const asIs = (text: string): string => text;

/**
 * Checks the table's schema until it was right once; then once a minute, because somebody may change it, and if asked to (`anew`). Each call asks
 * for itself, because another call's connection may never answer.
 */
function schemaCheck(scope: string, name: string, query: Query, { version }: Statements): (anew?: boolean) => ReturnType<Ready> {
  let form: Awaited<ReturnType<Ready>> | undefined;
  let checkedAt = 0;
  const look = async (): ReturnType<Ready> => {
    const [row] = await query(version, name);
    if (!row) throw new StoreFault('io', `${scope} has no table ${name} yet: run the SQL that postgresMigration() gives`);
    const found = Number(/^oncefetch schema (\d+)/.exec(row.comment ?? '')?.[1] ?? SCHEMA_VERSION);
    if (found > SCHEMA_VERSION)
      throw new StoreFault(
        'newer',
        `${scope} was made by a newer version of oncefetch (schema ${found}, this is ${SCHEMA_VERSION}); nothing was changed, update oncefetch here`,
      );
    if (row.persistence !== 'p')
      throw new StoreFault(
        'denied',
        `${scope} is a table that a crash of the server empties, and each record would be a payment that can be made twice: ALTER TABLE ${name} SET LOGGED`,
      );
    return row.encoding === 'UTF8' ? asIs : asciiOf;
  };
  return async (anew) => {
    if (form && !anew && performance.now() - checkedAt < CHECK_EVERY_MS) return form;
    // While one call checks again, the others go on.
    checkedAt = performance.now();
    try {
      form = await look();
      return form;
    } catch (error) {
      form = undefined;
      throw error;
    }
  };
}

async function scan(rows: Query, sql: Statements, guesses: OptimisticUpdater, query: ScanQuery): Promise<ScanPage> {
  const learnt = (found: readonly Row[]): readonly Row[] => {
    // Remember what was found: an update of one of these records probably follows.
    for (const row of found) guesses.learn(unordered(row.id ?? ''), seenOf(row));
    return found;
  };
  if ('before' in query)
    return dueOf(async (offset, count) => learnt(await rows(sql.due, query.before, count, offset)).map(({ data }) => recordOf(data)), query);
  const { label, id, end } = rangeOf(query);
  const found = learnt(await rows(sql.page, ordered(query.ns), ordered(query.state), label, id, end, query.limit + 1));
  return pageOfPlaces(
    found.map((row) => ({ label: row.label ?? '', id: row.id ?? '', record: recordOf(row.data) })),
    query,
  );
}

/**
 * Removes due records by short statements, one after the other. Each locks a few rows for a moment, and skips those that others have
 * locked. Records that can't be removed are read once, and skipped from then on. Those that a statement did not remove are read once more: only that shows
 * whether they were locked, or are gone already (by another sweep, or by a removal whose answer was lost) and must not be counted among the skipped.
 */
async function sweep(rows: Query, sql: Statements, before: number | undefined, limit: number): Promise<number> {
  const tried = new Set<unknown>();
  for (let [removed, kept] = [0, 0]; ; ) {
    const found = await rows(sql.due, before ?? null, limit, kept);
    const over = found.filter(({ rev, data }) => !tried.has(rev) && readRecord(recordOf(data))?.state.match(/settled|retired/));
    const gone = over.length ? (await rows(sql.sweep, JSON.stringify(over.map(({ id, rev }) => [id, rev])))).length : 0;
    if (gone < over.length) for (const { rev } of over) tried.add(rev);
    removed += gone;
    kept += found.length - over.length;
    if (found.length < limit) return removed;
  }
}
