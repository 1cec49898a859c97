/** A process that pays, and is killed before it hears the answer. */
import { createOnce } from '../../src/entries/index.js';
import { sqliteStore } from '../../src/entries/sqlite.js';

const [path = '', url = ''] = process.argv.slice(2);
const once = createOnce({ namespace: 'billing', store: sqliteStore({ path }) });
await once.fetch(url, { method: 'POST', body: '{"cart":1}', once: ['pay', 'taken over'] });
