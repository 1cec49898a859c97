/** A separate table of seen keys, written in the transaction of the effect: the second copy of a request rolls back. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS payments (id INTEGER PRIMARY KEY, operation TEXT);
    CREATE TABLE IF NOT EXISTS dedup (key TEXT PRIMARY KEY, payment INTEGER);`,
  effects: ['SELECT operation FROM payments'],

  handle(db) {
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');
    const mark = db.prepare('INSERT INTO dedup (key, payment) VALUES (?, ?)');
    const look = db.prepare('SELECT payment FROM dedup WHERE key = ?');

    return async ({ method, path, headers, json, work, beforeCommit, afterCommit }) => {
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      const key = String(headers['x-idempotency-key']);
      await work();
      try {
        const payment = transaction(db, () => {
          const made = Number(pay.run(json['order'] ?? '').lastInsertRowid);
          mark.run(key, made);
          beforeCommit();
          return made;
        });
        afterCommit();
        return answer(201, { payment });
      } catch (error) {
        const seen = look.get(key);
        if (!seen) throw error;
        return answer(200, seen);
      }
    };
  },
};
