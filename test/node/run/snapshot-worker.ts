/** A service that starts from a snapshot of Node's heap (`node --build-snapshot`). It pays for one cart, prints how that ended, and exits. */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { startupSnapshot } from 'node:v8';
import { createOnce, outcomeOf } from '../../../src/entries/node.js';
import { redisStore } from '../../../src/stores/redis/redis.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

/** The name of the service in its logs. Node makes it from random bytes, keeps more of them in reserve, and puts those into the snapshot. */
const service = crypto.randomUUID();

startupSnapshot.setDeserializeMainFunction(async () => {
  const [shop = '', cart = '', path = '', from = '', port] = process.argv.slice(1);
  // A snapshot can't hold what uses sockets.
  const redis = () => new (createRequire(from)('ioredis') as typeof import('ioredis')).Redis<'legacy'>(Number(port), '127.0.0.1');
  const stored = port ? { store: redisStore(redis()), randomUUID: () => randomUUID({ disableEntropyCache: true }) } : { store: sqliteStore({ path }) };
  const once = createOnce({ namespace: 'billing', limits: { attempts: 1 }, ...stored });
  const end: unknown = await once.fetch(shop, { method: 'POST', body: JSON.stringify({ cart }), once: ['pay', cart] }).catch((error: unknown) => error);
  const { effect, key } = outcomeOf(end) ?? {};
  console.log(JSON.stringify({ service, effect, key, end: String(end) }));
  process.exit();
});
