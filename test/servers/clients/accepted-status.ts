import { outcomeOf, polling } from 'oncefetch';
import type { Client, Order } from '../support/run.js';

export const client: Client = ({ api, createOnce }) => {
  const once = createOnce({ namespace: 'office', use: [polling()], accepted: 'poll' });

  const start = (order: Order, format: string) =>
    once.fetch(`${api}/exports`, {
      method: 'POST',
      body: JSON.stringify({ order: order.id, format }),
      once: ['export', order.id],
    });

  // Every second order asks for a format that the job can't make. The customer corrects it when the job is reported as failed.
  const forms = new Map<string, string>();
  return async (order) => {
    const format = forms.get(order.id) ?? (order.amount % 2 === 0 ? 'csv' : 'xlsx');
    const answer: unknown = await start(order, format).catch((error: unknown) => error);
    if (outcomeOf(answer)?.effect === 'none') forms.set(order.id, 'csv');
    return answer;
  };
};
