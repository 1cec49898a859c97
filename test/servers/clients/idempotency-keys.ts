import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({ namespace: 'till' });

  const pay = (order: Order) =>
    once.fetch(`${api}/payments`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id, amount: order.amount }),
      once: ['pay', order.id],
    });

  return pay;
};
