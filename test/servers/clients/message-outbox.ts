import { outcomeOf } from 'oncefetch';
import { defineDialect, inBody } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const messages = createOnce({ namespace: 'broker', dialect: defineDialect({ name: 'messages', place: inBody('messageId'), replays: true }) });
  const events = createOnce({ namespace: 'relay', dialect: defineDialect({ name: 'events', place: inBody('eventId'), replays: true }) });

  /** Delivers a message. */
  const deliver = (order: Order) =>
    messages.fetch(`${api}/messages`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id }),
      once: { operation: ['message', order.id], key: `m-${order.id}` },
    });

  /** Sends what is in the outbox, and removes it from there. */
  const relay = async (order: Order) => {
    const listed = await fetch(`${api}/outbox/${order.id}`);
    if (!listed.ok) throw new Error(`${listed.status}`);
    const waiting = (await listed.json()) as { id: string; order: string }[];
    for (const event of waiting) {
      await events.fetch(`${api}/shipments`, {
        method: 'POST',
        body: JSON.stringify({ order: event.order }),
        once: { operation: ['event', event.id], key: event.id },
      });
      await fetch(`${api}/outbox/${event.id}`, { method: 'DELETE' });
    }
  };

  return async (order) => {
    const delivered: unknown = await deliver(order).catch((error: unknown) => error);
    if (outcomeOf(delivered)?.effect !== 'done') return delivered;
    await relay(order);
    return delivered;
  };
};
