/** Prints what this process can do with an SQLite file, and which store a chain chooses. It leaves its store open. */
import { firstAvailable } from '../../../src/stores/browser/first-available.js';
import { memoryStore } from '../../../src/stores/memory.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

const [path = ''] = process.argv.slice(2);
const store = sqliteStore({ path });
const chain = firstAvailable([store, memoryStore()]);
const said = (work: Promise<unknown>) => work.catch((fault: { reason: string }) => fault.reason);
const update = await said(chain.update('b', () => ({ next: { id: 'b', ns: 'ns', state: 'pending', label: 'b', forgetAt: 1 }, value: 'stored' })));
const read = await said(chain.read('a').then((found) => (found as { id: string } | undefined)?.id));
console.log(JSON.stringify({ read, update, chosen: chain.kind }));
