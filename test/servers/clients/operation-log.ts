import { defineDialect, inBody } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const ledger = defineDialect({
    name: 'ledger',
    place: inBody('transferId'),
    replays: true,
    answers: [{ status: 409, at: { code: 'TRANSFER_ID_REUSED' }, means: 'mismatch' }],
  });
  const once = createOnce({ namespace: 'till', dialect: ledger });

  const transfer = (order: Order) =>
    once.fetch(`${api}/transfers`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id, amount: order.amount }),
      once: ['transfer', order.id],
    });

  return transfer;
};
