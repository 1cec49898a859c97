/** One process of a service: makes one named call, and prints its response and its outcome. */
import { close, createOnce, memoryStore, outcomeOf } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

const [path = '', url = '', options = '{}'] = process.argv.slice(2);
const store = path === 'memory' ? memoryStore() : sqliteStore({ path });
const once = createOnce({ namespace: 'billing', store, ...JSON.parse(options) });
try {
  const response = await once.fetch(url, { method: 'POST', body: '{}', once: ['charge', 'o-1'] });
  const body = Buffer.from(await response.arrayBuffer()).toString('base64');
  console.log(JSON.stringify({ status: response.status, headers: Object.fromEntries(response.headers), body, outcome: outcomeOf(response) }));
} catch (error) {
  console.log(JSON.stringify({ code: (error as { code?: string }).code, outcome: outcomeOf(error) }));
}
await close(once);
