/** A row lock: the request that pays an order holds its row, and every other request waits and then reads the row. */
import { type PostgresServer, pgTransaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: PostgresServer = {
  on: 'postgres',
  tables: `
    CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, payment int);
    CREATE TABLE IF NOT EXISTS payments (id serial PRIMARY KEY, operation text)`,
  effects: ['SELECT operation FROM payments'],

  handle:
    (pool) =>
    async ({ method, path, work, beforeCommit, afterCommit }) => {
      const [, order] = /^\/orders\/([^/]+)\/pay$/.exec(path) ?? [];
      if (method !== 'POST' || !order) return NOT_FOUND;
      await pool.query('INSERT INTO orders (id) VALUES ($1) ON CONFLICT DO NOTHING', [order]);
      const payment = await pgTransaction(pool, 'BEGIN', async (db) => {
        const { rows } = await db.query('SELECT payment FROM orders WHERE id = $1 FOR UPDATE', [order]);
        if (rows[0].payment !== null) return rows[0].payment as number;
        await work();
        const made = await db.query('INSERT INTO payments (operation) VALUES ($1) RETURNING id', [order]);
        await db.query('UPDATE orders SET payment = $1 WHERE id = $2', [made.rows[0].id, order]);
        beforeCommit();
        return made.rows[0].id as number;
      });
      afterCommit();
      return answer(200, { payment });
    },
};
