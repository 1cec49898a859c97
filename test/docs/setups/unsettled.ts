/** A page after a reload, or an app that was opened again: all answers to its payment were lost, though the shop has charged. */
import * as oncefetch from 'oncefetch';
import { reload, shop, show } from '../support/stage.js';

const options: oncefetch.OnceOptions = { use: [oncefetch.requests()], namespace: 'u-7', keep: { request: true } };
const before = oncefetch.createOnce(options);
export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };

shop().server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
await before
  .fetch('/api/payments', { method: 'POST', body: JSON.stringify(cart), once: { operation: ['pay', cart.id], meta: { total: '€42.00' } } })
  .catch((error: unknown) => oncefetch.isOnceError(error, 'ERR_ONCE_UNKNOWN') || Promise.reject(error));
reload();

export const once = oncefetch.createOnce(options);
export { show };
