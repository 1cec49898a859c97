/** Runs queries over a client: a Pool or Client of `pg`, or what has their `query`. Nothing gets into a transaction of the app's. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { StoreFault } from '../fault.js';
import type { Query, Row } from './batch.js';
import { type PostgresClient, stateOf } from './fault.js';

/** SQLSTATEs for a statement name that the connection does not know, or has already, because a pooler uses another connection. Nothing was done. */
const NAMES_GET_LOST = ['26000', '42P05'];
/** What a client's `query` must give. That of pg-promise and of Neon over HTTP gives the rows themselves. */
const NO_ROWS =
  'query(text, values) of the client gave no { rows }. If it gives the rows themselves, hand in { query: async (text, values) => ({ rows: await client.query(text, values) }) }';

/**
 * Gives the function that runs queries. With a single connection, it runs one at a time, because from pg 9 on a second one is refused.
 * A pool of pg gives up a connection that does not answer within `limitMs`.
 */
export function queryOf(client: PostgresClient, prepare: boolean, limitMs: number): Query {
  const names = new Map<string, string>();
  let prepares = prepare;
  const named = (text: string): string => {
    // The name is made from the text, because two stores on one connection may use two tables.
    const name = names.get(text) ?? `oncefetch_${bytesToHex(sha256(utf8ToBytes(text))).slice(0, 16)}`;
    names.set(text, name);
    return name;
  };
  // Only pg has this form, with a name and a time limit.
  const asked = async (text: string, values: unknown[]) => {
    const isPool = 'totalCount' in client;
    if (!prepares && !isPool) return client.query(text, values);
    const config = { ...(prepares && { name: named(text) }), text, values, query_timeout: limitMs };
    return isPool && 'connect' in client ? queryOfPool(client as unknown as PgPool, config) : (client as unknown as PgClient).query(config);
  };
  const query: Query = async (text, ...values) => {
    const found = await asked(text, values).catch((error) => {
      if (!NAMES_GET_LOST.includes(stateOf(error))) throw error;
      prepares = false;
      return asked(text, values);
    });
    const { rows } = Object(found) as Partial<typeof found>;
    if (!Array.isArray(rows)) throw new StoreFault('io', NO_ROWS);
    return rows as readonly Row[];
  };
  if (!('processID' in client)) return query;
  // What is written within a transaction of the app's is lost if the app rolls it back.
  const outside = async (text: string, ...values: unknown[]): Promise<readonly Row[]> => {
    if (inTransaction(client)) throw new StoreFault('blocked', 'the connection is in the middle of a transaction');
    return notWithin(client, await query(text, ...values));
  };
  let last: Promise<unknown> = Promise.resolve();
  return (text, ...values) => {
    const mine = last.then(() => outside(text, ...values));
    last = mine.catch(() => {});
    return mine;
  };
}

/** The part of pg that a store uses of its own Pool and of the connections in it. */
interface PgClient extends PostgresClient {
  query(text: string, values?: unknown[]): ReturnType<PostgresClient['query']>;
  query(config: object): ReturnType<PostgresClient['query']>;
}
interface PgConnection extends PgClient {
  getTransactionStatus?(): string | null;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
  release(error?: unknown): void;
}
interface PgPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly options: { readonly max?: number };
  connect(got: (error: Error | undefined, connection: PgConnection | undefined) => void): void;
}

const ignore = (): void => {};

/**
 * `pool.query`, but never on a connection that the app gave back in the middle of a transaction: whoever gets that connection next may
 * roll back what the store writes. The transaction may still go on (`pool.query('BEGIN')` in a pool of one), so it is left alone. In an
 * aborted one the statement fails by itself.
 */
async function queryOfPool(pool: PgPool, config: object): ReturnType<PostgresClient['query']> {
  const open: PgConnection[] = [];
  try {
    for (;;) {
      const connection = await connectionOf(pool);
      if (connection.getTransactionStatus?.() !== 'T') return await queryAndRelease(connection, config);
      open.push(connection);
      // Ask for another connection only if one is idle or may be opened: otherwise the pool might wait for one of those that are held here.
      if (!pool.idleCount && pool.totalCount >= (pool.options.max ?? 0))
        throw new StoreFault('blocked', 'a connection was given back to the pool in the middle of a transaction');
    }
  } finally {
    for (const connection of open) release(connection);
  }
}

/**
 * Takes a connection from the pool. If it breaks, the query on it rejects, so its event `error` can be ignored. But the event must have a
 * listener from the first moment on, because without one it ends the process. So this uses the pool's callback: a promise would resolve too
 * late for an error that arrives in the same packet.
 */
const connectionOf = (pool: PgPool): Promise<PgConnection> =>
  new Promise((resolve, reject) => {
    pool.connect((error, connection) => {
      connection?.on('error', ignore);
      if (connection) resolve(connection);
      else reject(error);
    });
  });

async function queryAndRelease(connection: PgConnection, config: object): ReturnType<PostgresClient['query']> {
  let failed: unknown;
  try {
    return notWithin(connection, await connection.query(config));
  } catch (error) {
    failed = error;
    throw error;
  } finally {
    // Like `pool.query`, do not keep a connection on which a query failed.
    release(connection, failed instanceof StoreFault ? undefined : failed);
  }
}

function release(connection: PgConnection, failed?: unknown): void {
  connection.release(failed);
  connection.off('error', ignore);
}

/** Refuses the result of a statement that ran inside a transaction of the app's, which the app may have begun while the statement waited. */
function notWithin<T>(client: PostgresClient, found: T): T {
  if (!inTransaction(client)) return found;
  throw new StoreFault('io', 'a statement of the store ran inside a transaction on the same connection, and is lost if that is rolled back');
}

/** Whether a transaction is open on a connection. Only `pg` from 8.21 on tells. */
function inTransaction(client: PostgresClient): boolean {
  return /[TE]/.test(String((client as { getTransactionStatus?(): string | null }).getTransactionStatus?.()));
}
