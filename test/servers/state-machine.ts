/** A state machine: an order goes from open to paid once, however often requests ask for it. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, state TEXT);
    CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, operation TEXT);`,
  effects: ['SELECT operation FROM charges'],

  handle(db) {
    const open = db.prepare("INSERT INTO orders VALUES (?, 'open') ON CONFLICT DO NOTHING");
    const look = db.prepare('SELECT state FROM orders WHERE id = ?');
    const pay = db.prepare("UPDATE orders SET state = 'paid' WHERE id = ? AND state = 'open'");
    const charge = db.prepare('INSERT INTO charges (operation) VALUES (?)');

    return async ({ method, path, work, beforeCommit, afterCommit }) => {
      const [, id = ''] = /^\/orders\/([^/]+)\/pay$/.exec(path) ?? [];
      if (method !== 'POST' || !id) return NOT_FOUND;
      open.run(id);
      await work();
      const paid = transaction(db, () => {
        if (pay.run(id).changes === 0) return false;
        charge.run(id);
        beforeCommit();
        return true;
      });
      afterCommit();
      const { state } = look.get(id) as { state: string };
      if (paid) return answer(200, { id, state });
      return answer(409, { code: state === 'paid' ? 'ALREADY_PAID' : 'NOT_OPEN', id, state });
    };
  },
};
