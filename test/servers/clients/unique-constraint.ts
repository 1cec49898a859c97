import { defineDialect, inBody } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const orders = defineDialect({
    name: 'orders',
    place: inBody('orderId'),
    answers: [{ status: 409, at: { code: 'ORDER_ALREADY_PAID' }, means: 'done-elsewhere', resource: 'paymentId' }],
  });
  const once = createOnce({ namespace: 'till', dialect: orders });

  const pay = (order: Order) =>
    once.fetch(`${api}/payments`, {
      method: 'POST',
      body: JSON.stringify({ amount: order.amount }),
      once: { operation: ['pay', order.id], key: order.id },
    });

  return pay;
};
