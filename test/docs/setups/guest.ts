/** A guest whose payment got no answer, and who is about to log in. */
import * as oncefetch from 'oncefetch';
import { generic } from 'oncefetch/dialects';
import { shop, show } from '../support/stage.js';

export const session = { userId: 'guest-7f1c' };
export const cart = { id: 'c-42', total: 4200 };
export const once = oncefetch.createOnce({ namespace: () => session.userId, dialect: generic({ perAccount: false }) });
export const pay = (order: typeof cart): Promise<Response> =>
  once.fetch('/api/payments', { method: 'POST', body: JSON.stringify(order), once: ['pay', order.id] });

shop().server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
await pay(cart).catch((error: unknown) => oncefetch.isOnceError(error, 'ERR_ONCE_UNKNOWN') || Promise.reject(error));

export { show };
