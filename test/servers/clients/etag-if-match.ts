import { reconciling } from 'oncefetch';
import { defineDialect, inHeader } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({
    use: [reconciling()],
    namespace: 'till',
    // No key is looked at. 412 is asked about, the first one too: a browser or a proxy may have sent it twice.
    dialect: defineDialect({ name: 'etags', place: inHeader('Idempotency-Key'), answers: [{ status: 412, means: 'open' }] }),
    reconcile: async ({ operation, signal }) => {
      const found = await fetch(`${api}/documents/${operation[1]}`, { signal, cache: 'no-store' });
      if (!found.ok) return 'unknown';
      const { editor } = (await found.clone().json()) as { editor?: string };
      if (editor === 'till') return found;
      // Another one's is there: If-Match lets ours in no more.
      return found.headers.get('etag') === '"1"' ? 'unknown' : 'none';
    },
  });

  const save = (order: Order) =>
    once.fetch(`${api}/documents/${order.id}`, {
      method: 'PUT',
      headers: { 'if-match': '"1"' }, // the ETag of what was read
      body: JSON.stringify({ editor: 'till', amount: order.amount }),
      once: ['save', order.id],
    });

  return save;
};
