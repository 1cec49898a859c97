import { defineDialect, inHeader } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const orders = defineDialect({
    name: 'orders',
    place: inHeader('Idempotency-Key'), // the server ignores the key: the state is what counts
    answers: [{ status: 409, at: { code: 'ALREADY_PAID' }, means: 'done-elsewhere', resource: 'id' }],
  });
  const once = createOnce({ namespace: 'till', dialect: orders });

  const pay = (order: Order) => once.fetch(`${api}/orders/${order.id}/pay`, { method: 'POST', once: ['pay', order.id] });

  return pay;
};
