/** A tablet that several people use. Every answer to a payment of Anna's was lost. */
import * as oncefetch from 'oncefetch';
import { reload, shop, show } from '../support/stage.js';

export const { createOnce } = oncefetch;
export const session = { userId: 'anna' };

shop().server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
await oncefetch
  .createOnce({ use: [oncefetch.requests()], namespace: 'anna', keep: { request: true } })
  .fetch('/api/payments', { method: 'POST', body: '{"cart":"c-42"}', once: { operation: ['pay', 'c-42'], meta: { total: '€42.00' } } })
  .catch((error: unknown) => oncefetch.isOnceError(error, 'ERR_ONCE_UNKNOWN') || Promise.reject(error));
reload();

export { show };
