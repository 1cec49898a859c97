/** A one-time token: a prepare call issues it for a short time, and a payment uses it up. */
import { randomUUID } from 'node:crypto';
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

/** Shorter than an attempt that hangs, so that the token has expired when the client sends it again. */
const TOKEN_MS = 200;

interface Token {
  readonly expires: number;
  readonly payment: number | null;
}

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, expires INTEGER, payment INTEGER);
    CREATE TABLE IF NOT EXISTS payments (id INTEGER PRIMARY KEY, operation TEXT);`,
  effects: ['SELECT operation FROM payments'],

  handle(db) {
    const give = db.prepare('INSERT INTO tokens (token, expires) VALUES (?, ?)');
    const look = db.prepare('SELECT payment, expires FROM tokens WHERE token = ?');
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');
    const use = db.prepare('UPDATE tokens SET payment = ? WHERE token = ? AND payment IS NULL');

    return async ({ method, path, json, work, beforeCommit, afterCommit }) => {
      const [, asked] = /^\/tokens\/(.+)$/.exec(path) ?? [];
      if (asked) return answer(200, look.get(asked));
      if (method === 'POST' && path === '/tokens') {
        const token = randomUUID();
        give.run(token, Date.now() + TOKEN_MS);
        return answer(201, { token });
      }
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      await work();
      const { token = '', order = '' } = json;
      const told = transaction(db, () => {
        const found = look.get(token) as Token | undefined;
        if (!found) return answer(400, { code: 'NO_SUCH_TOKEN' });
        // Checked first, because a used token must never count as expired: its customer would pay again.
        if (found.payment !== null) return answer(409, { code: 'TOKEN_USED' });
        if (found.expires < Date.now()) return answer(410, { code: 'TOKEN_EXPIRED' });
        const made = Number(pay.run(order).lastInsertRowid);
        use.run(made, token);
        beforeCommit();
        return answer(201, { payment: made });
      });
      afterCommit();
      return told;
    };
  },
};
