/** A lock in Redis, which many machines share. It is safe only because every holder writes its fencing number into the database. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

/** Shorter than the work, so that every lock runs out while its holder works. */
const LOCK_MS = 1;
const WAIT_MS = 3;
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
    const current = db.prepare('SELECT number FROM fences WHERE order_id = ?');
    const look = db.prepare('SELECT id FROM payments WHERE operation = ?');
    const pay = db.prepare('INSERT INTO payments (operation) VALUES (?)');

    return async ({ method, path, work, beforeCommit, afterCommit }) => {
      const [, order = ''] = /^\/orders\/([^/]+)\/pay$/.exec(path) ?? [];
      if (method !== 'POST' || !order) return NOT_FOUND;
      const [lock, holder] = [`lock:${order}`, randomUUID()];
      const take = async () => (await redis.set(lock, holder, 'PX', LOCK_MS, 'NX')) !== null;
      // Waits for the lock once. The lock runs out early, so the next holder begins while the previous one is still working.
      if (!(await take()) && !(await sleep(WAIT_MS).then(take))) return LOCKED;
      const number = await redis.incr('fence');
      if (fence.run(order, number).changes === 0) return LOCKED;
      const paid = look.get(order) as { id: number } | undefined;
      if (paid) return answer(200, { payment: paid.id });
      await work();
      const payment = transaction(db, () => {
        // The lock ran out, and a later holder has begun: it did not see this payment, so this transaction must not commit it.
        if (current.get(order)?.['number'] !== number) return undefined;
        const made = Number(pay.run(order).lastInsertRowid);
        beforeCommit();
        return made;
      });
      afterCommit();
      await redis.eval(UNLOCK, 1, lock, holder);
      return payment === undefined ? LOCKED : answer(200, { payment });
    };
  },
};
