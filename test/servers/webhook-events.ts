/** A receiver of signed webhooks (Standard Webhooks). An event has the same id at every delivery. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const SECRET = 'c2VjcmV0';
const TOLERANCE_S = 300;

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS events (webhook_id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS credits (operation TEXT);`,
  effects: ['SELECT operation FROM credits'],

  handle(db) {
    const take = db.prepare('INSERT INTO events VALUES (?) ON CONFLICT DO NOTHING');
    const credit = db.prepare('INSERT INTO credits VALUES (?)');

    return async ({ method, path, headers, text, json, work, beforeCommit, afterCommit }) => {
      if (method !== 'POST' || path !== '/hooks') return NOT_FOUND;
      const [id, time, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => String(headers[name]));
      const signed = `v1,${createHmac('sha256', Buffer.from(SECRET, 'base64')).update(`${id}.${time}.${text}`).digest('base64')}`;
      const genuine = signature?.length === signed.length && timingSafeEqual(Buffer.from(signature), Buffer.from(signed));
      if (!genuine || Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_S) return answer(401, { title: 'Not signed by us' });
      await work();
      transaction(db, () => {
        if (take.run(String(id)).changes === 0) return;
        credit.run(json['order'] ?? '');
        beforeCommit();
      });
      afterCommit();
      return answer(200, {});
    };
  },
};
