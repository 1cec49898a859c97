/** The client's Snowflake id is the primary key: 64 bits that sort by time. */
import { type PostgresServer, pgTransaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: PostgresServer = {
  on: 'postgres',
  tables: 'CREATE TABLE IF NOT EXISTS payments (id bigint PRIMARY KEY, operation text, amount int)',
  effects: ['SELECT operation FROM payments'],

  handle:
    (pool) =>
    async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      const { id, order, amount } = json;
      await work();
      await pgTransaction(pool, 'BEGIN', async (db) => {
        await db.query('INSERT INTO payments (id, operation, amount) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING', [id, order, amount]);
        beforeCommit();
      });
      afterCommit();
      const { rows } = await pool.query('SELECT operation, amount FROM payments WHERE id = $1', [id]);
      return rows[0].operation === order && rows[0].amount === amount ? answer(200, { id }) : answer(409, { code: 'ID_TAKEN' });
    },
};
