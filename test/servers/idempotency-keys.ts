/** Idempotency keys: the server stores the key before anything else happens, and commits effect and answer together. */
import { randomUUID } from 'node:crypto';
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS payments (id INTEGER PRIMARY KEY, operation TEXT);
    CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, body TEXT, boot TEXT, answer TEXT);`,
  effects: ['SELECT operation FROM payments'],

  handle(db) {
    const boot = randomUUID();
    const take = db.prepare('INSERT INTO keys (key, body, boot) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    const takeOver = db.prepare('UPDATE keys SET boot = ? WHERE key = ? AND answer IS NULL AND boot <> ?');
    const look = db.prepare('SELECT body, answer FROM keys WHERE key = ?');
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');
    const store = db.prepare('UPDATE keys SET answer = ? WHERE key = ?');

    return async ({ method, path, headers, text, json, work, beforeCommit, afterCommit }) => {
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      const key = headers['idempotency-key'];
      if (typeof key !== 'string') return answer(400, { title: 'Idempotency-Key is missing' });
      if (take.run(key, text, boot).changes === 0) {
        const row = look.get(key) as { body: string; answer: string | null };
        if (row.body !== text) return answer(422, { title: 'Idempotency-Key is already used' });
        if (row.answer !== null) return answer(201, JSON.parse(row.answer), { 'idempotent-replayed': 'true' });
        // If a process that died took the key, exactly one of the requests that find it goes on.
        if (takeOver.run(boot, key, boot).changes === 0)
          return answer(409, { title: 'A request is outstanding for this Idempotency-Key' }, { 'retry-after': '1' });
      }
      await work();
      const made = transaction(db, () => {
        const { lastInsertRowid } = pay.run(json['order'] ?? '');
        store.run(JSON.stringify({ payment: Number(lastInsertRowid) }), key);
        beforeCommit();
        return { payment: Number(lastInsertRowid) };
      });
      afterCommit();
      return answer(201, made);
    };
  },
};
