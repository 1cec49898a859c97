/** An operation log: the body has the transfer's id, and the log has one row for each id. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS transfers (transfer_id TEXT PRIMARY KEY, operation TEXT, amount INTEGER);
    CREATE TABLE IF NOT EXISTS postings (transfer_id TEXT, operation TEXT, account TEXT, amount INTEGER);`,
  effects: ["SELECT operation FROM postings WHERE account = 'till'"],

  handle(db) {
    const log = db.prepare('INSERT INTO transfers VALUES (?, ?, ?) ON CONFLICT (transfer_id) DO NOTHING');
    const post = db.prepare('INSERT INTO postings VALUES (?, ?, ?, ?)');
    const look = db.prepare('SELECT transfer_id AS transferId, amount FROM transfers WHERE transfer_id = ?');

    return async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      if (method !== 'POST' || path !== '/transfers') return NOT_FOUND;
      const { transferId = '', order = '', amount = '' } = json;
      await work();
      transaction(db, () => {
        if (log.run(transferId, order, amount).changes === 0) return;
        post.run(transferId, order, 'customer', -Number(amount));
        post.run(transferId, order, 'till', Number(amount));
        beforeCommit();
      });
      afterCommit();
      const logged = look.get(transferId) as { amount: number };
      return logged.amount === Number(amount) ? answer(200, logged) : answer(409, { code: 'TRANSFER_ID_REUSED' });
    };
  },
};
