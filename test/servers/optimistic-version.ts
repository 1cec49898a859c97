/** Optimistic locking: a change names the version on which it is based, and the server takes only the first change of each version. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS accounts (id TEXT PRIMARY KEY, balance INTEGER, version INTEGER);
    CREATE TABLE IF NOT EXISTS changes (account TEXT, version INTEGER, change_id TEXT);`,
  // Does not trust the log: every version after the first is one effect.
  effects: [
    'WITH RECURSIVE steps (id, n) AS (SELECT id, version FROM accounts UNION ALL SELECT id, n - 1 FROM steps WHERE n > 2) SELECT id AS operation FROM steps WHERE n > 1',
  ],

  handle(db) {
    const open = db.prepare('INSERT INTO accounts VALUES (?, 0, 1) ON CONFLICT DO NOTHING');
    const look = db.prepare('SELECT balance, version FROM accounts WHERE id = ?');
    const change = db.prepare('UPDATE accounts SET balance = balance + ?, version = version + 1 WHERE id = ? AND version = ?');
    const log = db.prepare('INSERT INTO changes VALUES (?, ?, ?)');
    const find = db.prepare('SELECT version FROM changes WHERE account = ? AND change_id = ?');

    return async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      const [, account = '', changeId] = /^\/accounts\/([^/]+)(?:\/changes(?:\/(.+))?)?$/.exec(path) ?? [];
      if (changeId) return find.get(account, changeId) ? answer(200, find.get(account, changeId)) : NOT_FOUND;
      open.run(account);
      if (method === 'GET') return answer(200, look.get(account));
      await work();
      const changed = transaction(db, () => {
        if (change.run(json['amount'] ?? 0, account, json['version'] ?? 0).changes === 0) return false;
        log.run(account, json['version'] ?? 0, json['changeId'] ?? '');
        beforeCommit();
        return true;
      });
      afterCommit();
      return changed ? answer(200, look.get(account)) : answer(409, { code: 'VERSION_CONFLICT', ...look.get(account) });
    };
  },
};
