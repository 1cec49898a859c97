/** A process of a service that pays for one cart, prints how that ended, and exits. */
import { createOnce, outcomeOf } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

const [path = '', shop = '', cart = ''] = process.argv.slice(2);
const once = createOnce({ namespace: 'billing', store: sqliteStore({ path }), limits: { attempts: 1 } });
const end: unknown = await once.fetch(shop, { method: 'POST', body: JSON.stringify({ cart }), once: ['pay', cart] }).catch((error: unknown) => error);
const { effect, resumed, key } = outcomeOf(end) ?? {};
console.log(JSON.stringify({ effect, resumed, key }));
process.exit();
