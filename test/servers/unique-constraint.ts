/** A unique constraint on the business key: an order has one payment, whichever request makes it. */
import type { PostgresServer } from './support/database.ts';
import { pgTransaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: PostgresServer = {
  on: 'postgres',
  tables: 'CREATE TABLE IF NOT EXISTS payments (id serial PRIMARY KEY, order_id text UNIQUE, amount int)',
  effects: ['SELECT order_id AS operation FROM payments'],

  handle:
    (pool) =>
    async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      await work();
      const made = await pgTransaction(pool, 'BEGIN', async (db) => {
        const { rows } = await db.query('INSERT INTO payments (order_id, amount) VALUES ($1, $2) ON CONFLICT (order_id) DO NOTHING RETURNING id', [
          json['orderId'],
          json['amount'],
        ]);
        beforeCommit();
        return rows[0] as { id: number } | undefined;
      });
      afterCommit();
      if (made) return answer(201, { paymentId: made.id });
      const { rows } = await pool.query('SELECT id FROM payments WHERE order_id = $1', [json['orderId']]);
      return answer(409, { code: 'ORDER_ALREADY_PAID', paymentId: rows[0].id });
    },
};
