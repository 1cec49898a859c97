/** Which requests without a name get a key. */
import { needsKey } from '../core/methods.js';
import type { Client } from '../engine/client.js';
import { jsonOf } from '../http/bytes.js';
import type { RequestInput } from '../http/request.js';

/** Whether a request needs a key because sending it twice may have two effects: POST and PATCH, except GraphQL queries. */
export function wantsKey({ method, body }: RequestInput): boolean {
  return needsKey(method) && !(typeof body === 'string' && /^\s*\{/.test(body) && isQuery(body));
}

function isQuery(body: string): boolean {
  const text = (jsonOf(body) as { query?: unknown } | undefined)?.query;
  return typeof text === 'string' && /^\s*(#.*\n\s*)*(query\b|\{)/.test(text) && !/\b(mutation|subscription)\b/.test(text);
}

/** Whether a key may be sent to this address. */
export function mayGo({ platform, settings: { origins } }: Client, { url, origin }: RequestInput): boolean {
  if (typeof origins === 'function') return origins(url);
  if (origins) return origins.includes(origin);
  // `data:`, `blob:` and schemes that fetch does not know: there is no server to honour a key.
  if (origin === 'null' || url.startsWith('blob:')) return false;
  return platform.server || platform.origin === undefined || platform.origin === origin;
}
