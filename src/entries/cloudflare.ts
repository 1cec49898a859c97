export { type D1DatabaseLike, type D1StatementLike, type D1StoreOptions, d1Migration, d1Store } from '../stores/cloudflare/d1.js';
export { type DurableObjectStorageLike, durableObjectStore } from '../stores/cloudflare/durable-object.js';
export type { CloudflareTable } from '../stores/cloudflare/table.js';
