/** Select, then insert: safe only if two transactions that select at once can't both insert. */
import { type PostgresServer, pgTransaction } from './support/database.ts';
import { answer, type Call, NOT_FOUND } from './support/http.ts';

const SERIALIZATION_FAILURE = '40001';
const TRIALS = 5;

export const server: PostgresServer = {
  on: 'postgres',
  tables:
    'CREATE TABLE IF NOT EXISTS payments (id serial PRIMARY KEY, request_id text, operation text); CREATE INDEX IF NOT EXISTS by_request ON payments (request_id)',
  effects: ['SELECT operation FROM payments'],

  handle: (pool) => {
    const payOnce = (requestId: string, { json, work, beforeCommit }: Call): Promise<number> =>
      pgTransaction(pool, 'BEGIN ISOLATION LEVEL SERIALIZABLE', async (db) => {
        const found = await db.query('SELECT id FROM payments WHERE request_id = $1', [requestId]);
        if (found.rows[0]) return found.rows[0].id as number;
        await work();
        const made = await db.query('INSERT INTO payments (request_id, operation) VALUES ($1, $2) RETURNING id', [requestId, json['order']]);
        beforeCommit();
        return made.rows[0].id as number;
      });

    return async (call) => {
      if (call.method !== 'POST' || call.path !== '/payments') return NOT_FOUND;
      for (let trial = 1; ; trial++) {
        try {
          const id = await payOnce(String(call.headers['x-request-id']), call);
          call.afterCommit();
          return answer(200, { id });
        } catch (error) {
          if ((error as { code?: string }).code !== SERIALIZATION_FAILURE) throw error;
          if (trial === TRIALS) return answer(503, { title: 'Try again' });
        }
      }
    };
  },
};
