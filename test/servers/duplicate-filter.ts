/** A duplicate filter: a request whose id was seen before gets a 429, never the answer of the first request. */
import { type RedisServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

const WORKING_MS = 400;
const DUPLICATE = answer(429, { code: 'DUPLICATE_REQUEST' });

export const server: RedisServer = {
  on: 'redis',
  tables: `
    CREATE TABLE IF NOT EXISTS payments (id INTEGER PRIMARY KEY, operation TEXT);
    CREATE TABLE IF NOT EXISTS seen (request_id TEXT PRIMARY KEY, payment INTEGER);`,
  effects: ['SELECT operation FROM payments'],

  handle(db, redis) {
    const look = db.prepare('SELECT payment FROM seen WHERE request_id = ?');
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');
    const see = db.prepare('INSERT INTO seen (request_id, payment) VALUES (?, ?)');

    return async ({ method, path, headers, json, work, beforeCommit, afterCommit }) => {
      const [, asked] = /^\/payments\/by-request\/(.+)$/.exec(path) ?? [];
      if (asked) return look.get(asked) ? answer(200, look.get(asked)) : NOT_FOUND;
      if (method !== 'POST' || path !== '/payments') return NOT_FOUND;
      const id = String(headers['x-request-id']);
      // The lock expires by itself if its process dies. The table says whether the payment is done.
      if ((await redis.set(`seen:${id}`, 1, 'PX', WORKING_MS, 'NX')) === null || look.get(id)) return DUPLICATE;
      await work();
      const payment = transaction(db, () => {
        const made = Number(pay.run(json['order'] ?? '').lastInsertRowid);
        see.run(id, made);
        beforeCommit();
        return made;
      });
      afterCommit();
      return answer(201, { payment });
    };
  },
};
