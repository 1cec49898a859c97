/** A process among several on one SQLite file: `raise`: counts up one record; `claim`: inserts where absent; `write`: writes until it is killed, records of `count` characters if told; `leave`: writes, and closes nothing. */
import type { Stored } from '../../../src/ports.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

const [path = '', task = '', name = '', count = '0'] = process.argv.slice(2);
const store = sqliteStore({ path, busyTimeoutMs: 10_000 });
const record = (id: string, more: object): Stored => ({ id, ns: 'ns', state: 'pending', label: id, forgetAt: 1000, ...more });

console.log('ready');
await new Promise((go) => process.stdin.once('data', go));
process.stdin.pause();

if (task === 'raise') {
  for (let n = 0; n < Number(count); n++) {
    await store.update('counter', (current) => ({
      next: record('counter', { count: ((current as { count?: number } | undefined)?.count ?? 0) + 1 }),
      value: undefined,
    }));
  }
}
if (task === 'claim') {
  const won = await Promise.all(
    Array.from({ length: Number(count) }, (_, n) =>
      store.update(`op-${n}`, (current) =>
        current === undefined ? { next: record(`op-${n}`, { key: `${name}-${n}` }), value: `op-${n}` } : { value: undefined },
      ),
    ),
  );
  console.log(JSON.stringify(won.filter(Boolean)));
}
if (task === 'write') {
  for (let n = 0; ; n++) {
    await store.update(`${name}-${n}`, () => ({ next: record(`${name}-${n}`, { body: 'x'.repeat(Number(count) || n % 2000) }), value: undefined }), {
      durability: n % 2 ? 'strict' : 'relaxed',
    });
    // Whoever reads this was told that it is stored.
    console.log(`stored ${name}-${n}`);
  }
}
if (task === 'leave')
  for (let n = 0; n < Number(count); n++) await store.update(`${name}-${n}`, () => ({ next: record(`${name}-${n}`, {}), value: undefined }));
else await store.close();
