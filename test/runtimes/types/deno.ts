/** A service in Deno, with its types. */
import { createOnce } from 'oncefetch';
import { denoKvStore } from 'oncefetch/deno';

const kv: Deno.Kv = await Deno.openKv();
const once = createOnce({ store: denoKvStore(kv), fetch });
const response: Response = await once.fetch(new Request('https://shop.example/'), { headers: { a: 'b' }, once: ['pay', 1] });
console.log(response.status);
// @ts-expect-error a number is no address
await once.fetch(42);
