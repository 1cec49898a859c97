/** No keys: a client can look a transfer up by its reference, and the server refuses a request that is too old. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: 'CREATE TABLE IF NOT EXISTS transfers (id INTEGER PRIMARY KEY, reference TEXT);',
  effects: ['SELECT reference AS operation FROM transfers'],

  handle(db) {
    const look = db.prepare('SELECT id FROM transfers WHERE reference = ?');
    const make = db.prepare('INSERT INTO transfers (reference) VALUES (?)');

    return async ({ method, path, headers, json, work, beforeCommit, afterCommit }) => {
      const [, asked] = /^\/transfers\/by-reference\/(.+)$/.exec(path) ?? [];
      if (asked) return answer(200, { found: look.get(asked) ?? null, now: Date.now() });
      if (method !== 'POST' || path !== '/transfers') return NOT_FOUND;
      await work();
      const id = transaction(db, () => {
        // Checked within the transaction: after `x-valid-until` no transfer can appear any more, so a look-up is final.
        if (Date.now() > Number(headers['x-valid-until'])) return undefined;
        const made = Number(make.run(json['reference'] ?? '').lastInsertRowid);
        beforeCommit();
        return made;
      });
      afterCommit();
      return id === undefined ? answer(408, { title: 'Too old' }) : answer(201, { id });
    };
  },
};
