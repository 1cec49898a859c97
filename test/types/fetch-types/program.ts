import { createOnce, type Once, type OnceOptions, type OnceRequestInit, operation, outcomeOf } from 'oncefetch';
import { stripe } from 'oncefetch/dialects';
import 'oncefetch/cloudflare';
import 'oncefetch/deno';
import 'oncefetch/ky';
import 'oncefetch/node';
import 'oncefetch/opentelemetry';
import { postgresStore } from 'oncefetch/postgres';
import 'oncefetch/react';
import 'oncefetch/react-native';
import { redisStore } from 'oncefetch/redis';
import 'oncefetch/service-worker';
import { sqliteStore } from 'oncefetch/sqlite';
import { idempotentServer } from 'oncefetch/testing';

const options: OnceOptions = {
  fetch,
  dialect: stripe(),
  headers: async ({ headers, url }) => ({ authorization: `Bearer ${url.length}`, accept: headers.get('accept') ?? '' }),
};
const once: Once = createOnce(options);
const init: OnceRequestInit = { method: 'POST', headers: { a: 'b' }, body: '{}', once: ['pay', 1] };
const response: Response = await once.fetch('https://shop.example/', init);
await once.fetch(new URL('https://shop.example/'), { headers: new Headers({ a: 'b' }) });
await once.fetch(new Request('https://shop.example/'), { headers: [['a', 'b']], signal: AbortSignal.timeout(1) });
await operation(once, ['pay', 1]).fetch('https://shop.example/', { method: 'DELETE' });
createOnce({ headers: () => new Headers() });
createOnce({ headers: () => [['a', 'b']] });

// `once.fetch` can stand in for `fetch`, and `fetch` for `once.fetch`.
const asFetch: typeof fetch = once.fetch;
createOnce({ fetch: asFetch });
const asOnce: Once['fetch'] = fetch;
void [outcomeOf(response), asOnce, postgresStore, redisStore, sqliteStore, idempotentServer];

// @ts-expect-error a number is no URL
await once.fetch(42);
// @ts-expect-error an object is no URL either
await once.fetch({ to: 'https://shop.example/' });
// @ts-expect-error
await operation(once, ['pay', 1]).fetch(42);
// @ts-expect-error a number has no headers
createOnce({ headers: () => 42 });
// @ts-expect-error
await once.fetch('https://shop.example/', { headers: 42 });
// @ts-expect-error
await once.fetch('https://shop.example/', { once: 42 });
