/** A one-time token: a prepare call gives it out, a payment uses it up. */
import { randomUUID } from 'node:crypto';
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, payment INTEGER);
    CREATE TABLE IF NOT EXISTS payments (id INTEGER PRIMARY KEY, operation TEXT);`,
  effects: ['SELECT operation FROM payments'],

  handle(db) {
    const give = db.prepare('INSERT INTO tokens (token) VALUES (?)');
    const look = db.prepare('SELECT payment FROM tokens WHERE token = ?');
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');
    const use = db.prepare('UPDATE tokens SET payment = ? WHERE token = ? AND payment IS NULL');

    return async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      const [, asked] = /^\/tokens\/(.+)$/.exec(path) ?? [];
      if (asked) return answer(200, look.get(asked));
      if (method === 'POST' && path === '/tokens') {
        const token = randomUUID();
        give.run(token);
        return answer(201, { token });
      }
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      await work();
      const { token = '', order = '' } = json;
      const payment = transaction(db, () => {
        if ((look.get(token) as { payment: number | null } | undefined)?.payment !== null) return undefined;
        const made = Number(pay.run(order).lastInsertRowid);
        use.run(made, token);
        beforeCommit();
        return made;
      });
      afterCommit();
      return payment === undefined ? answer(409, { code: 'TOKEN_USED' }) : answer(201, { payment });
    };
  },
};
