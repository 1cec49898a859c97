/** A checkout page, and a customer who presses Pay. */
import * as oncefetch from 'oncefetch';
import { DECLINED } from '../support/shop.js';
import { shop, show } from '../support/stage.js';

export const once = oncefetch.createOnce({ namespace: 'u-7' });
export const goodCard = '4242424242424242';
export const declinedCard = DECLINED;
export const pay = (card: string, order: { cart: string; gift?: boolean } = { cart: 'c-42' }): Promise<Response> =>
  once.fetch('/api/payments', { method: 'POST', body: JSON.stringify({ ...order, card }), once: ['pay', order.cart] });
export const loseAll = (): void => shop().server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
export { show };
