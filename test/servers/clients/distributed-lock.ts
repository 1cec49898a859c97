import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({ namespace: 'till' });

  const pay = (order: Order) => once.fetch(`${api}/orders/${order.id}/pay`, { method: 'POST', once: ['pay', order.id] });

  return pay;
};
