/** A service in Bun, with its types and no DOM library. */
import { Database } from 'bun:sqlite';
import { createOnce } from 'oncefetch/node';
import { sqliteStore } from 'oncefetch/sqlite';

const once = createOnce({ store: sqliteStore({ database: new Database('once.db') }), fetch });
const response: Response = await once.fetch(new Request('https://shop.example/'), { headers: { a: 'b' }, once: ['pay', 1] });
createOnce({ store: sqliteStore({ path: 'once.db', Database }) });
console.log(response.status);
// @ts-expect-error a number is no address
await once.fetch(42);
