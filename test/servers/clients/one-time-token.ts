import { hooks, reconciling } from 'oncefetch';
import { defineDialect, inBody } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({
    use: [hooks(), reconciling()],
    namespace: 'till',
    dialect: defineDialect({
      name: 'tokens',
      place: inBody('token'),
      answers: [
        { status: 409, at: { code: 'TOKEN_USED' }, means: 'open' },
        { status: 410, at: { code: 'TOKEN_EXPIRED' }, means: 'refused', sticky: true }, // the token was not used, and no longer can be
      ],
    }),
    reconcile: async ({ key, signal }) => {
      const found = await fetch(`${api}/tokens/${key}`, { signal, cache: 'no-store' });
      if (!found.ok) return 'unknown';
      const { payment } = (await found.json()) as { payment: number | null };
      return payment === null ? 'unknown' : Response.json({ payment });
    },
  });

  const prepare = async (order: Order) => {
    const prepared = await fetch(`${api}/tokens`, { method: 'POST', body: JSON.stringify({ order: order.id }) });
    if (!prepared.ok) throw new Error(`${prepared.status}`);
    const { token } = (await prepared.json()) as { token: string };
    return token;
  };

  const pay = (order: Order) =>
    once.fetch(`${api}/payments`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id, amount: order.amount }),
      once: { operation: ['pay', order.id], key: () => prepare(order) },
    });

  return pay;
};
