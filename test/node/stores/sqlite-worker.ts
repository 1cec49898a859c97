/**
 * One of several processes on one SQLite file. `raise` raises a counter in one record. `claim` inserts the records that are absent. `write` writes
 * records, of `count` characters if given, until it is killed. `leave` writes records and does not close its store.
 */
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
    const raised = (current: unknown) => record('counter', { count: ((current as { count?: number } | undefined)?.count ?? 0) + 1 });
    await store.update('counter', (current) => ({ next: raised(current), value: undefined }), { durability: n % 10 ? 'relaxed' : 'strict' });
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
    // Tells the parent process that the record is stored.
    console.log(`stored ${name}-${n}`);
  }
}
if (task === 'leave') {
  for (let n = 0; n < Number(count); n++)
    await store.update(`${name}-${n}`, () => ({ next: record(`${name}-${n}`, {}), value: undefined }), { durability: 'relaxed' });
} else await store.close();
