import { Snowflake } from '@sapphire/snowflake';
import { hooks } from 'oncefetch';
import { defineDialect, inBody } from 'oncefetch/dialects';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const snowflakes = new Snowflake(new Date('2025-01-01'));
  const once = createOnce({
    use: [hooks()],
    namespace: 'till',
    dialect: defineDialect({
      name: 'snowflakes',
      place: inBody('id'),
      replays: true,
      answers: [{ status: 409, at: { code: 'ID_TAKEN' }, means: 'mismatch' }],
    }),
  });

  const pay = (order: Order) =>
    once.fetch(`${api}/payments`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id, amount: order.amount }),
      once: { operation: ['pay', order.id], key: () => String(snowflakes.generate({ workerId: 7n })) }, // each machine has its own worker id
    });

  return pay;
};
