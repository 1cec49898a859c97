import { polling } from 'oncefetch';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({ namespace: 'office', use: [polling()], accepted: 'poll' });

  const start = (order: Order) =>
    once.fetch(`${api}/exports`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id }),
      once: ['export', order.id],
    });

  return start;
};
