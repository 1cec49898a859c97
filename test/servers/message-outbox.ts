/** A consumer of messages. Its inbox has the ids of handled messages, and its outbox has the events that others must get. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS inbox (message_id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS orders (operation TEXT);
    CREATE TABLE IF NOT EXISTS outbox (event_id TEXT PRIMARY KEY, operation TEXT, sent INTEGER DEFAULT 0);
    CREATE TABLE IF NOT EXISTS shipped (event_id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS shipments (operation TEXT);`,
  effects: ['SELECT operation FROM orders', 'SELECT operation FROM shipments'],

  handle(db) {
    const take = db.prepare('INSERT INTO inbox VALUES (?) ON CONFLICT DO NOTHING');
    const book = db.prepare('INSERT INTO orders VALUES (?)');
    const tell = db.prepare('INSERT INTO outbox (event_id, operation) VALUES (?, ?)');
    const next = db.prepare('SELECT event_id AS id, operation AS "order" FROM outbox WHERE operation = ? AND sent = 0');
    const sent = db.prepare('UPDATE outbox SET sent = 1 WHERE event_id = ?');
    const heard = db.prepare('INSERT INTO shipped VALUES (?) ON CONFLICT DO NOTHING');
    const ship = db.prepare('INSERT INTO shipments VALUES (?)');

    return async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      const [, order] = /^\/outbox\/(.+)$/.exec(path) ?? [];
      if (order && method === 'GET') return answer(200, next.all(order));
      if (order) return answer(200, { changed: sent.run(order).changes });
      await work();
      if (path === '/messages') {
        transaction(db, () => {
          if (take.run(json['messageId'] ?? '').changes === 0) return;
          book.run(json['order'] ?? '');
          tell.run(`${json['messageId']}-booked`, json['order'] ?? '');
          beforeCommit();
        });
        afterCommit();
        return answer(200, {});
      }
      if (path !== '/shipments') return NOT_FOUND;
      transaction(db, () => {
        if (heard.run(json['eventId'] ?? '').changes === 0) return;
        ship.run(json['order'] ?? '');
        beforeCommit();
      });
      afterCommit();
      return answer(200, {});
    };
  },
};
