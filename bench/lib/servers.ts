/** The server stores, each on a real server, and the cheapest commit that its database can make. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { memoryStore, type Store } from 'oncefetch';
import { postgresMigration, postgresStore } from 'oncefetch/postgres';
import { redisStore } from 'oncefetch/redis';
import { sqliteStore } from 'oncefetch/sqlite';
import { Pool } from 'pg';
import { startPostgres, startRedis, withoutPostgres, withoutRedis } from '../../scripts/start-services.ts';
import type { FloorRecord } from './floor.ts';

export interface Medium {
  /** Opens a separate store. */
  open(name: string): Promise<Store>;
  /** Inserts a record's text, flushed like a first commit. `again` changes it, as cheaply as the database can. */
  bare(id: string, text: string): Promise<void>;
  again(id: string, text: string): Promise<void>;
  /** The same, with the conditions and indexes of a store that must not overwrite unseen changes. Absent if `bare` cannot be undercut. */
  readonly least?: { begin(record: FloorRecord): void; settle(record: FloorRecord): void };
  close(): Promise<void>;
}

async function sqlite(): Promise<Medium> {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-bench-'));
  const opened: Store[] = [];
  const levels = ([1, 2] as const).map((level) => {
    const database = new DatabaseSync(join(folder, 'bare.db'));
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${level}; CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, data TEXT)`);
    return database;
  });
  const [normal, full] = levels as [DatabaseSync, DatabaseSync];
  full.exec(`CREATE TABLE least (id TEXT PRIMARY KEY, ns TEXT, state TEXT, label TEXT, forget_at REAL, data TEXT);
    CREATE INDEX place ON least (ns, state, label, id); CREATE INDEX time ON least (forget_at)`);
  const looked = (database: DatabaseSync, write: string): ((record: FloorRecord) => void) => {
    const [look, put] = [database.prepare('SELECT data FROM least WHERE id = ?'), database.prepare(write)];
    return (record) => {
      database.exec('BEGIN IMMEDIATE');
      look.get(record.id);
      put.run(record.id, record.ns, record.state, record.label, record.forgetAt, JSON.stringify(record));
      database.exec('COMMIT');
    };
  };
  const [insert, update] = [full.prepare('INSERT INTO records VALUES (?, ?)'), normal.prepare('UPDATE records SET data = ? WHERE id = ?')];
  return {
    async open(name) {
      const store = sqliteStore({ path: join(folder, `${name}.db`) });
      opened.push(store);
      return store;
    },
    bare: async (id, text) => void insert.run(id, text),
    again: async (id, text) => void update.run(text, id),
    least: {
      begin: looked(full, 'INSERT INTO least VALUES (?, ?, ?, ?, ?, ?)'),
      settle: looked(normal, 'INSERT OR REPLACE INTO least VALUES (?, ?, ?, ?, ?, ?)'),
    },
    async close() {
      for (const store of opened) await store.close();
      for (const database of levels) database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function redis(): Promise<Medium> {
  const server = await startRedis();
  const client = new Redis<'legacy'>(server.port);
  return {
    open: async (name) => redisStore(client, { prefix: name }),
    bare: async (id, text) => void (await client.set(id, text, 'PX', 86_400_000, 'NX')),
    again: async (id, text) => void (await client.set(id, text, 'PX', 86_400_000, 'XX')),
    async close() {
      client.disconnect();
      await server.stop();
    },
  };
}

async function postgres(): Promise<Medium> {
  const server = await startPostgres();
  const pool = new Pool({ ...server.connection, max: 10 });
  const lazy = new Pool({ ...server.connection, max: 10, options: '-c synchronous_commit=off' });
  await pool.query('CREATE TABLE bare (id text PRIMARY KEY, data text)');
  return {
    async open(name) {
      await pool.query(postgresMigration({ table: name }));
      // Prepared, like the bare statements.
      return postgresStore(pool, { table: name, prepare: true });
    },
    bare: async (id, text) => void (await pool.query({ name: 'bare', text: 'INSERT INTO bare VALUES ($1, $2)', values: [id, text] })),
    again: async (id, text) => void (await lazy.query({ name: 'again', text: 'UPDATE bare SET data = $2 WHERE id = $1', values: [id, text] })),
    async close() {
      await Promise.all([pool.end(), lazy.end()]);
      server.stop();
    },
  };
}

async function memory(): Promise<Medium> {
  const map = new Map<string, string>();
  const put = async (id: string, text: string): Promise<void> => void map.set(id, text);
  return { open: async () => memoryStore(), bare: put, again: put, close: async () => {} };
}

export const media: Readonly<Record<string, { readonly missing: string | undefined; readonly start: () => Promise<Medium> }>> = {
  memory: { missing: undefined, start: memory },
  SQLite: { missing: undefined, start: sqlite },
  Redis: { missing: withoutRedis, start: redis },
  PostgreSQL: { missing: withoutPostgres, start: postgres },
};
