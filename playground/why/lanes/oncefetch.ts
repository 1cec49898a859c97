/**
 * oncefetch: a name for what the customer means, and the word of the outcome. `derived` is the one option that helps
 * after the storage was cleared.
 */
import { createOnce, derived, hooks, isOnceError, outcomeOf } from 'oncefetch';
import { bodyOf, HEADERS, type Pay, URL_ } from './lane.ts';

const session = { userId: '' };
const namespace = () => session.userId;
const keyed = createOnce({ use: [hooks()], namespace });
const keyless = createOnce({ namespace, dialect: 'none' });

export const oncefetch: Pay = async (order) => {
  session.userId = order.user;
  const once = order.withoutKeys ? keyless : keyed;
  const key = order.withoutKeys ? {} : { key: derived };
  const result = await once
    .fetch(URL_, { method: 'POST', headers: HEADERS, body: bodyOf(order), once: { operation: ['pay', order.name], ...key } })
    .catch((error: unknown) => error);
  const effect = outcomeOf(result)?.effect ?? 'unknown';
  return effect === 'done' && isOnceError(result) ? 'earlier' : effect;
};
