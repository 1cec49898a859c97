/** Finds the truth by reading the server's database directly, whatever the server says. */
import { DatabaseSync } from 'node:sqlite';
import { type Opened, openPostgres, type Server } from './database.js';

export interface Judge {
  /** Effects of one operation, of each kind. */
  effectsOf(operation: string): Promise<readonly number[]>;
  /** Effects of all operations, by operation and kind. */
  all(): Promise<readonly ReadonlyMap<string, number>[]>;
  close(): Promise<void>;
}

interface Row {
  readonly operation: string;
  readonly n: number;
}

export async function judge({ on, effects }: Server, opened: Opened): Promise<Judge> {
  const counts = (sql: string, where = ''): string => `SELECT operation, CAST(count(*) AS integer) AS n FROM (${sql}) AS effects ${where} GROUP BY operation`;
  const db = on === 'postgres' ? undefined : new DatabaseSync(opened.file, { readOnly: true, timeout: 5000 });
  const pool = on === 'postgres' ? await openPostgres(opened) : undefined;
  const rows = async (sql: string, ...values: string[]): Promise<Row[]> =>
    (db ? db.prepare(sql.replaceAll('$1', '?')).all(...values) : ((await pool?.query(sql, values))?.rows ?? [])) as unknown as Row[];
  return {
    effectsOf: (operation) => Promise.all(effects.map(async (sql) => (await rows(counts(sql, 'WHERE operation = $1'), operation))[0]?.n ?? 0)),
    all: () => Promise.all(effects.map(async (sql) => new Map((await rows(counts(sql))).map(({ operation, n }) => [operation, n] as const)))),
    close: async () => {
      db?.close();
      await pool?.end();
    },
  };
}
