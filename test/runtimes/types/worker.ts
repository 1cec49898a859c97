/** A Worker, with the types of Cloudflare and no DOM library. */
import { createOnce, type Once } from 'oncefetch';
import { d1Migration, d1Store, durableObjectStore } from 'oncefetch/cloudflare';

interface Env {
  readonly DB: D1Database;
}

export class Till {
  readonly once: Once;
  constructor(ctx: DurableObjectState) {
    this.once = createOnce({ namespace: 'till', store: durableObjectStore(ctx.storage) });
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    await env.DB.exec(d1Migration());
    const once = createOnce({ store: d1Store(env.DB), fetch });
    const response: Response = await once.fetch(request, { once: ['pay', 1] });
    return once.fetch('https://shop.example/', { method: 'POST', headers: { status: String(response.status) }, body: '{}', once: ['pay', 2] });
  },
};

export const session = (env: Env) => d1Store(env.DB);
// @ts-expect-error a number is no address
await createOnce().fetch(42);
// @ts-expect-error Workers KV is no store
durableObjectStore({} as KVNamespace);
