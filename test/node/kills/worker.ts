/** One of several processes that share a store and do the same operations, until it is told that there are no more, or killed. */
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import pg from 'pg';
import { close, createOnce, memoryStore, outcomeOf, pending, type Store } from '../../../src/entries/index.js';
import { postgresStore } from '../../../src/stores/postgres/postgres.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

/** Operations in flight at once. */
const LANES = 4;
const BUSY_MS = 50;

const [kind = '', at = '', shop = ''] = process.argv.slice(2);

function storeOf(): Store {
  if (kind === 'sqlite') return sqliteStore({ path: at, busyTimeoutMs: 10_000 });
  if (kind === 'redis') return redisStore(new Redis<'legacy'>(Number(at), '127.0.0.1'));
  if (kind === 'postgres') return postgresStore(new pg.Pool({ host: '127.0.0.1', port: Number(at), user: 'postgres', database: 'postgres', max: 4 }));
  return memoryStore();
}

const store = storeOf();
const once = createOnce({ namespace: 'kills', store, limits: { attempts: 20, attemptMs: 5000 }, retry: { minDelayMs: 10, maxDelayMs: 100 } });
const todo: string[] = [];
let over = false;

/** Pays for the cart, or learns that it is paid. `false` if it is not done, for example because another process drives it. */
async function take(cart: string): Promise<boolean> {
  const body = JSON.stringify({ cart, amount: 100, card: '4242' });
  // One call in ten waits for the process that is driving the operation. The others return at once, and the lane takes
  // another cart.
  const whenBusy = Math.random() < 0.1 ? 'join' : 'reject';
  console.log(`at ${cart}`);
  const end = await once
    .fetch(`${shop}/api/payments`, { method: 'POST', body, once: { operation: ['charge', cart], whenBusy } })
    .catch((error: unknown) => error);
  const outcome = outcomeOf(end);
  if (outcome === undefined) throw end;
  // Without attempts of its own, this call only read the stored end: another process drove the operation.
  console.log(`${outcome.effect} ${cart} ${outcome.resumed && outcome.attempts > 0 ? 'resumed' : ''}`);
  return outcome.effect === 'done';
}

async function lane(): Promise<void> {
  while (!over) {
    const cart = todo.splice(Math.floor(Math.random() * todo.length), 1)[0];
    if (cart === undefined || !(await take(cart))) {
      if (cart !== undefined) todo.push(cart);
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'over') over = true;
  else todo.push(...line.split(' '));
});
await Promise.all(Array.from({ length: LANES }, lane));
console.log(`pending ${(await pending(once)).length}`);
await close(once);
process.exit(0);
