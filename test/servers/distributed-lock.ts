/** A lock that many machines share, in Redis; what makes it safe is the number that the database is shown with it. */
import { randomUUID } from 'node:crypto';
import { type RedisServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

const LOCK_MS = 300;
const UNLOCK = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end";
const LOCKED = answer(409, { title: 'The order is being paid' }, { 'retry-after': '1' });

export const server: RedisServer = {
  on: 'redis',
  tables: `
    CREATE TABLE IF NOT EXISTS fences (order_id TEXT PRIMARY KEY, number INTEGER);
    CREATE TABLE IF NOT EXISTS payments (id INTEGER PRIMARY KEY, operation TEXT);`,
  effects: ['SELECT operation FROM payments'],

  handle(db, redis) {
    const fence = db.prepare('INSERT INTO fences VALUES (?, ?) ON CONFLICT (order_id) DO UPDATE SET number = excluded.number WHERE number < excluded.number');
    const look = db.prepare('SELECT id FROM payments WHERE operation = ?');
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');

    return async ({ method, path, work, beforeCommit, afterCommit }) => {
      const [, order = ''] = /^\/orders\/([^/]+)\/pay$/.exec(path) ?? [];
      if (method !== 'POST' || !order) return NOT_FOUND;
      const [lock, holder] = [`lock:${order}`, randomUUID()];
      if ((await redis.set(lock, holder, 'PX', LOCK_MS, 'NX')) === null) return LOCKED;
      const number = await redis.incr('fence');
      await work();
      const payment = transaction(db, () => {
        // The lock ran out, and somebody later was here.
        if (fence.run(order, number).changes === 0) return undefined;
        const paid = look.get(order) as { id: number } | undefined;
        const made = paid?.id ?? Number(pay.run(order).lastInsertRowid);
        beforeCommit();
        return made;
      });
      afterCommit();
      await redis.eval(UNLOCK, 1, lock, holder);
      return payment === undefined ? LOCKED : answer(200, { payment });
    };
  },
};
