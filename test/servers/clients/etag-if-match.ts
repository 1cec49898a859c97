import { reconciling } from 'oncefetch';
import { defineDialect, inHeader } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({
    use: [reconciling()],
    namespace: 'till',
    // The server looks at no key. Ask about every 412, even the first: a browser or a proxy may have sent the request twice.
    dialect: defineDialect({ name: 'etags', place: inHeader('Idempotency-Key'), answers: [{ status: 412, means: 'open' }] }),
    reconcile: async ({ operation, signal }) => {
      const found = await fetch(`${api}/documents/${operation[1]}`, { signal, cache: 'no-store' });
      if (!found.ok) return 'unknown';
      const { editor } = (await found.clone().json()) as { editor?: string };
      if (editor === 'till') return found;
      // Somebody else's version is there, so If-Match refuses ours from now on.
      return found.headers.get('etag') === '"1"' ? 'unknown' : 'none';
    },
  });

  const save = (order: Order) =>
    once.fetch(`${api}/documents/${order.id}`, {
      method: 'PUT',
      headers: { 'if-match': '"1"' }, // the ETag of the version that was read
      body: JSON.stringify({ editor: 'till', amount: order.amount }),
      once: ['save', order.id],
    });

  return save;
};
