/** Records in D1: a store for all Workers that are bound to the database. */
import type { Store } from '../../ports.js';
import { type Claims, createStore } from '../base.js';
import type { Answer, Attempt, Seen } from '../compare-and-set.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { OptimisticUpdater } from '../optimistic-updater.js';
import { ordered, textOf } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { turnsByLooking } from '../turns.js';
import { type CloudflareTable, cloudflareFault, nameOf, type Rows, scanTable } from './table.js';

/** The part of a D1 statement that is used. */
export interface D1StatementLike {
  bind(...values: (string | number | null)[]): D1StatementLike;
}

/** The part of a D1 binding, such as `env.DB`, that is used. */
export interface D1DatabaseLike {
  prepare(sql: string): D1StatementLike;
  batch(statements: D1StatementLike[]): Promise<readonly { readonly results: readonly unknown[] }[]>;
}

/** How a D1 store keeps its records. */
export interface D1StoreOptions extends CloudflareTable {
  /** How long a call may take, ms; at most 10_000. @default 5_000 */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 5000;
/** The database's time, ms. */
const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`;

/**
 * The SQL that makes the table, one statement per line, for a Wrangler migration or `env.DB.exec`. It may run any number of times.
 *
 * @throws TypeError if `table` is not a valid name
 * @example
 * await env.DB.exec(d1Migration());
 */
export function d1Migration(options: CloudflareTable = {}): string {
  const table = nameOf(options);
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, rev TEXT NOT NULL, ns TEXT, state TEXT, label TEXT, forget_at REAL, data TEXT NOT NULL);`,
    `CREATE INDEX IF NOT EXISTS ${table}_place ON ${table} (ns, state, label, id);`,
    `CREATE INDEX IF NOT EXISTS ${table}_time ON ${table} (forget_at);`,
  ].join('\n');
}

/**
 * A store in D1, shared by all Workers that are bound to the database. An update usually takes one batch, which is a transaction. The
 * table is made by {@link d1Migration}.
 *
 * @param database - the binding itself, such as `env.DB`, not a session of it, which may read outdated records from a replica
 * @throws TypeError if `database` is not a D1 binding, or `table` is not a valid name
 * @example
 * const once = createOnce({ namespace: customer, store: d1Store(env.DB) });
 */
export function d1Store(database: D1DatabaseLike, options: D1StoreOptions = {}): Store {
  const { prepare, batch, getBookmark } = Object(database) as Partial<D1DatabaseLike & { getBookmark: unknown }>;
  if (typeof prepare !== 'function' || typeof batch !== 'function' || getBookmark !== undefined)
    throw new TypeError('once: d1Store takes a D1 binding, such as env.DB, not a session of it');
  const table = nameOf(options);
  const timeoutMs = timeLimit('timeoutMs', options.timeoutMs ?? TIMEOUT_MS);
  const scope = `d1:${numberOf(database)}:${table}`;
  const fault = (thrown: unknown): StoreFault =>
    /no such table/.test(String(thrown))
      ? new StoreFault('io', `${scope} has no table ${table} yet: run the SQL that d1Migration() gives`, thrown)
      : cloudflareFault(scope, thrown);
  const bound = ([sql, ...values]: Statement): D1StatementLike => database.prepare(sql).bind(...values.map(finite));
  const all = async (...statements: Statement[]): Promise<Rows[]> => (await database.batch(statements.map(bound))).map(({ results }) => results as Rows);
  const read = async (id: string): Promise<Seen | undefined> => seenOf((await all([`SELECT rev, data FROM ${table} WHERE id = ?`, ordered(id)]))[0]?.[0]);
  // D1 may reset, for example because its storage was slow, after it has made an update but before it has answered.
  const unsure = ({ message }: StoreFault): boolean => /\breset\b/i.test(message);
  const guesses = new OptimisticUpdater({ attempt: (attempt) => send(table, all, attempt), read, fault, unsure }, timeoutMs, turnsByLooking());
  const claims: Claims = { kind: 'd1', scope, survives: 'machine', shared: 'cluster', atomic: true, ownClock: true };
  return createStore(
    claims,
    {
      update: (id, next, durability) => guesses.update(id, next, durability),
      read: (id) => guesses.read(id),
      scan: (query) => guesses.look(() => scanTable(table, query, async (sql, ...values) => (await all([sql, ...values]))[0] ?? [])),
    },
    () => guesses.clock.said,
  );
}

type Statement = [sql: string, ...values: (string | number | null)[]];

/** D1 sends values as JSON, which has no infinite numbers. */
const finite = (value: string | number | null) => (typeof value === 'number' ? Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE)) : value);

const seenOf = (row: Rows[number] | undefined): Seen | undefined => (typeof row?.['rev'] === 'string' ? { rev: row['rev'], text: row['data'] } : undefined);

/** Writes if the guess is right, and reads what is stored then, in one transaction. */
async function send(table: string, all: (...statements: Statement[]) => Promise<Rows[]>, attempt: Attempt): Promise<Answer> {
  const look: Statement = [`SELECT ${NOW} AS now, r.rev, r.data FROM (SELECT 1) LEFT JOIN ${table} AS r ON r.id = ?`, ordered(attempt.id)];
  const [did, [row] = []] = await all(writeOf(table, attempt), look);
  return { done: (did?.length ?? 0) > 0, now: Number(row?.['now']), seen: seenOf(row) };
}

/** The statement for an attempt. It gives a row if both guesses, of the record and of the time, were right. */
function writeOf(table: string, { id, expected, now, offMs, next, rev }: Attempt): Statement {
  const right = `abs(${NOW} - ?) <= ?`;
  const key = ordered(id);
  if (next) {
    const row = [rev, ordered(next.ns), ordered(next.state), ordered(next.label), next.forgetAt, textOf(next)];
    if (!expected)
      return [
        `INSERT INTO ${table} (rev, ns, state, label, forget_at, data, id) SELECT ?, ?, ?, ?, ?, ?, ? WHERE ${right} ON CONFLICT (id) DO NOTHING RETURNING 1`,
        ...row,
        key,
        now,
        offMs,
      ];
    const set = 'rev = ?, ns = ?, state = ?, label = ?, forget_at = ?, data = ?';
    return [`UPDATE ${table} SET ${set} WHERE id = ? AND ${right} AND rev = ? RETURNING 1`, ...row, key, now, offMs, expected.rev];
  }
  if (next === null && expected) return [`DELETE FROM ${table} WHERE id = ? AND ${right} AND rev = ? RETURNING 1`, key, now, offMs, expected.rev];
  // No change, or the removal of a record that is not there: only check the guesses.
  return [`SELECT 1 WHERE (SELECT rev FROM ${table} WHERE id = ?) IS ? AND ${right}`, key, expected?.rev ?? null, now, offMs];
}
