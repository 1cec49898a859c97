/** The databases of the servers: SQLite in a file, a schema in PostgreSQL, or SQLite with a Redis beside it. */
import { DatabaseSync } from 'node:sqlite';
import type { Redis } from 'ioredis';
import type { Pool, PoolClient } from 'pg';
import type { Handler } from './http.ts';

export { transaction } from '../../../playground/server/database.ts';

/** Replaces `transaction` when a test removes the transaction: every statement commits by itself. */
export const apart = <T>(_: DatabaseSync, work: () => T): T => work();

/**
 * What every server has. `effects`: one query for each kind of effect. It returns a row per effect, with the name of
 * its operation; each operation must have exactly one.
 */
interface Kept {
  readonly tables: string;
  readonly effects: readonly string[];
}

export interface SqliteServer extends Kept {
  readonly on: 'sqlite';
  handle(db: DatabaseSync): Handler;
}

/** A server on SQLite with a Redis beside it. */
export interface RedisServer extends Kept {
  readonly on: 'redis';
  handle(db: DatabaseSync, redis: Redis): Handler;
}

export interface PostgresServer extends Kept {
  readonly on: 'postgres';
  handle(pool: Pool): Handler;
}

export type Server = SqliteServer | RedisServer | PostgresServer;

/** Where the data of a server is. */
export interface Opened {
  /** Path of the SQLite file. */
  readonly file: string;
  /** Name of the schema in PostgreSQL. */
  readonly schema: string;
  readonly postgres?: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  readonly redis?: number;
}

export function openSqlite(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  // The tests kill processes, not the machine, so commits need not reach the disk.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
  return db;
}

export async function openPostgres({ postgres, schema }: Opened): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ ...postgres, max: 20, options: `-c search_path=${schema} -c synchronous_commit=off` });
  // An idle connection that breaks would otherwise throw.
  pool.on('error', () => {});
  return pool;
}

/** Loads the database's client library in advance, because that takes time. */
export async function load({ on }: Server): Promise<void> {
  if (on === 'postgres') await import('pg');
  if (on === 'redis') await import('ioredis');
}

/** Opens a server's database and makes its tables. */
export async function open(server: Server, opened: Opened): Promise<Handler> {
  if (server.on === 'postgres') {
    const pool = await openPostgres(opened);
    await pool.query(`CREATE SCHEMA IF NOT EXISTS ${opened.schema}; ${server.tables}`);
    return server.handle(pool);
  }
  const db = openSqlite(opened.file);
  db.exec(server.tables);
  if (server.on === 'sqlite') return server.handle(db);
  const { Redis } = await import('ioredis');
  return server.handle(db, new Redis<'legacy'>(opened.redis ?? 0, '127.0.0.1'));
}

/** Runs `work` in a transaction on its own connection. */
export async function pgTransaction<T>(pool: Pool, begin: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const value = await work(client);
    await client.query('COMMIT');
    return value;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
