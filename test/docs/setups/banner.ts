/** Any page of the shop, after a reload: all answers to a payment were lost. The snippet makes the page's client. */
import * as oncefetch from 'oncefetch';
import { reload, shop, show } from '../support/stage.js';

export const session: { userId: string | null; guestId: string } = { userId: 'u-7', guestId: 'guest-7f1c' };
shop().server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
await oncefetch
  .createOnce({ use: [oncefetch.requests()], namespace: 'u-7', keep: { request: true } })
  .fetch('/api/payments', { method: 'POST', body: '{"cart":"c-42"}', once: { operation: ['pay', 'c-42'], meta: { total: 4200 } } })
  .catch((error: unknown) => oncefetch.isOnceError(error, 'ERR_ONCE_UNKNOWN') || Promise.reject(error));
reload();

export { show };
