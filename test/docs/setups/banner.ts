/** Any page of the shop, after a reload: the answers to a payment were all lost. The client is the page's own. */
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
