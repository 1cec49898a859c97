import { reconciling } from 'oncefetch';
import { defineDialect, inHeader } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({
    use: [reconciling()],
    namespace: 'till',
    dialect: defineDialect({
      name: 'filter',
      place: inHeader('X-Request-Id'),
      answers: [{ status: 429, at: { code: 'DUPLICATE_REQUEST' }, means: 'open' }],
    }),
    reconcile: async ({ key, signal }) => {
      const found = await fetch(`${api}/payments/by-request/${key}`, { signal, cache: 'no-store' });
      return found.ok ? found : 'unknown';
    },
  });

  const pay = (order: Order) =>
    once.fetch(`${api}/payments`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id, amount: order.amount }),
      once: ['pay', order.id],
    });

  return pay;
};
