/** 202 with a status endpoint: the job is written down under its key, and done later. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

const EVERY_MS = 20;

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS jobs (key TEXT PRIMARY KEY, operation TEXT, done INTEGER DEFAULT 0);
    CREATE TABLE IF NOT EXISTS exports (operation TEXT);`,
  effects: ['SELECT operation FROM exports'],

  handle(db) {
    const accept = db.prepare('INSERT INTO jobs (key, operation) VALUES (?, ?) ON CONFLICT DO NOTHING');
    const open = db.prepare('SELECT key, operation FROM jobs WHERE done = 0 LIMIT 20');
    const finish = db.prepare('UPDATE jobs SET done = 1 WHERE key = ? AND done = 0');
    const make = db.prepare('INSERT INTO exports VALUES (?)');
    const look = db.prepare('SELECT done FROM jobs WHERE key = ?');

    const worker = async (): Promise<void> => {
      for (;;) {
        await sleep(EVERY_MS);
        for (const { key, operation } of open.all() as { key: string; operation: string }[])
          transaction(db, () => {
            if (finish.run(key).changes === 1) make.run(operation);
          });
      }
    };
    void worker();

    return async ({ method, path, headers, json, beforeCommit, afterCommit }) => {
      const [, asked] = /^\/jobs\/(.+)$/.exec(path) ?? [];
      if (asked) return answer((look.get(asked) as { done: number } | undefined)?.done ? 200 : 202, { job: asked });
      if (method !== 'POST' || path !== '/exports') return NOT_FOUND;
      const key = String(headers['idempotency-key']);
      transaction(db, () => {
        accept.run(key, json['order'] ?? '');
        beforeCommit();
      });
      afterCommit();
      return answer(202, { job: key }, { location: `/jobs/${key}` });
    };
  },
};
