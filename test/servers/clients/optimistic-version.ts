import { reconciling } from 'oncefetch';
import { defineDialect, inBody } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({
    use: [reconciling()],
    namespace: 'till',
    dialect: defineDialect({
      name: 'versions',
      place: inBody('changeId'),
      answers: [{ status: 409, at: { code: 'VERSION_CONFLICT' }, means: 'open' }],
    }),
    reconcile: async ({ operation, key, response, signal }) => {
      const found = await fetch(`${api}/accounts/${operation[1]}/changes/${key}`, { signal, cache: 'no-store' });
      if (found.ok) return found;
      // The account has moved to another version without this change, so the server can no longer accept it.
      return found.status === 404 && response?.status === 409 ? 'none' : 'unknown';
    },
  });

  const read = async (id: string) => {
    const found = await fetch(`${api}/accounts/${id}`);
    if (!found.ok) throw new Error(`${found.status}`);
    return ((await found.json()) as { version: number }).version;
  };

  // The version that the form was filled in for. With a newer one it would be another change.
  const deposit = (order: Order, version: number) =>
    once.fetch(`${api}/accounts/${order.id}/changes`, {
      method: 'POST',
      body: JSON.stringify({ amount: order.amount, version }),
      once: { operation: ['deposit', order.id], whenChanged: 'refuse' },
    });

  const forms = new Map<string, number>();
  return async (order) => {
    const version = forms.get(order.id) ?? (await read(order.id));
    forms.set(order.id, version);
    return deposit(order, version);
  };
};
