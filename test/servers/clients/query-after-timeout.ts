import { hooks, reconciling } from 'oncefetch';
import type { Client, Order } from '../support/run.js';

const VALID_MS = 300;

export const client: Client = ({ api, createOnce }) => {
  const validUntil = new Map<string, number>();
  const once = createOnce({
    use: [hooks(), reconciling()],
    namespace: 'till',
    dialect: 'none',
    reconcile: async ({ operation, signal }) => {
      const looked = await fetch(`${api}/transfers/by-reference/${operation[1]}`, { signal, cache: 'no-store' });
      if (!looked.ok) return 'unknown';
      const { found, now } = (await looked.json()) as { found: { id: number } | null; now: number };
      if (found) return Response.json(found);
      // If it is not there, it may still be on its way, until the time from which the server refuses it.
      return now > (validUntil.get(String(operation[1])) ?? Number.POSITIVE_INFINITY) ? 'none' : 'unknown';
    },
  });

  const transfer = (order: Order) =>
    once.fetch(`${api}/transfers`, {
      method: 'POST',
      body: JSON.stringify({ reference: order.id, amount: order.amount }),
      once: {
        operation: ['transfer', order.id],
        headers: () => {
          validUntil.set(order.id, Date.now() + VALID_MS);
          return { 'x-valid-until': String(validUntil.get(order.id)) };
        },
      },
    });

  return transfer;
};
