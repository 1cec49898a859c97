import { createHmac } from 'node:crypto';
import { hooks } from 'oncefetch';
import { defineDialect, inHeader } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';
import { SECRET as secret } from '../webhook-events.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({
    use: [hooks()],
    namespace: 'events',
    dialect: defineDialect({ name: 'webhooks', place: inHeader('webhook-id'), replays: true }),
    headers: ({ headers, body }) => {
      const time = Math.floor(Date.now() / 1000);
      const signed = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${headers.get('webhook-id')}.${time}.${body}`);
      return { 'webhook-timestamp': String(time), 'webhook-signature': `v1,${signed.digest('base64')}` };
    },
  });

  const deliver = (order: Order) =>
    once.fetch(`${api}/hooks`, {
      method: 'POST',
      body: JSON.stringify({ type: 'order.paid', order: order.id }),
      once: { operation: ['event', order.id], key: `evt_${order.id}` },
    });

  return deliver;
};
