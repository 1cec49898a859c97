/** 202 with a status endpoint: the job is stored under its key, and later it succeeds or fails for good. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

const EVERY_MS = 20;
/** Workers within this process. They stand for the processes of a larger server. */
const WORKERS = 2;

interface Job {
  readonly key: string;
  readonly operation: string;
  readonly format: string;
}

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS jobs (key TEXT PRIMARY KEY, operation TEXT, format TEXT, status TEXT DEFAULT 'running');
    CREATE TABLE IF NOT EXISTS exports (operation TEXT);`,
  effects: ['SELECT operation FROM exports'],

  handle(db) {
    const accept = db.prepare('INSERT INTO jobs (key, operation, format) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    const next = db.prepare("SELECT key, operation, format FROM jobs WHERE status = 'running' LIMIT 20");
    const finish = db.prepare("UPDATE jobs SET status = ? WHERE key = ? AND status = 'running'");
    const make = db.prepare('INSERT INTO exports VALUES (?)');
    const look = db.prepare('SELECT status FROM jobs WHERE key = ?');

    const work = async ({ key, operation, format }: Job): Promise<void> => {
      await sleep(1);
      transaction(db, () => {
        const failed = format !== 'csv';
        if (finish.run(failed ? 'failed' : 'succeeded', key).changes === 0) return;
        if (!failed) make.run(operation);
      });
    };
    const worker = async (): Promise<void> => {
      for (;;) {
        await sleep(EVERY_MS);
        for (const job of next.all() as unknown as Job[]) await work(job);
      }
    };
    for (let n = 0; n < WORKERS; n++) void worker();

    return async ({ method, path, headers, json, beforeCommit, afterCommit }) => {
      const [, asked = ''] = /^\/jobs\/(.+)$/.exec(path) ?? [];
      const job = look.get(asked) as { status: string } | undefined;
      if (job) return answer(job.status === 'running' ? 202 : 200, job);
      if (method !== 'POST' || path !== '/exports') return NOT_FOUND;
      const key = String(headers['idempotency-key']);
      transaction(db, () => {
        accept.run(key, json['order'] ?? '', json['format'] ?? '');
        beforeCommit();
      });
      afterCommit();
      return answer(202, { status: 'running' }, { location: `/jobs/${key}` });
    };
  },
};
