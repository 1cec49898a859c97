/** One of several processes on one store: settles operations, and prints how often its client scanned the store for due records meanwhile. */
import { Redis } from 'ioredis';
import pg from 'pg';
import { createOnce, run } from '../../../src/entries/index.js';
import type { Store } from '../../../src/ports.js';
import { postgresStore } from '../../../src/stores/postgres/postgres.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

const [kind = '', at = '', name = '', count = '0'] = process.argv.slice(2);
const stores: Readonly<Record<string, () => Store>> = {
  SQLite: () => sqliteStore({ path: at }),
  PostgreSQL: () => postgresStore(new pg.Pool({ connectionString: at, max: 4 })),
  Redis: () => redisStore(new Redis<'legacy'>(at)),
};
const store = stores[kind]?.() as Store;
let scans = 0;
let updates = 0;
const once = createOnce({
  namespace: 'n',
  store: {
    ...store,
    scan: (query) => {
      scans++;
      return store.scan(query);
    },
    update: async (...given) => {
      updates++;
      return store.update(...given).finally(() => updates--);
    },
  },
});

console.log('ready');
await new Promise((go) => process.stdin.once('data', go));
for (let n = 0; n < Number(count); n++) await run(once, ['settle', name, n], () => 1);
// A sweep may still be in progress: the calls above do not wait for it.
do await new Promise((done) => setTimeout(done, 500));
while (updates > 0);
console.log(JSON.stringify({ scans }));
process.exit();
