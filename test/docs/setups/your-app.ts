/** An app that is tested: its checkout, and a runner. */
import * as oncefetch from 'oncefetch';

export const once = oncefetch.createOnce({ namespace: 'u-7', store: oncefetch.memoryStore() });
export const checkout = (cart: { id: string; total: number }): Promise<Response> =>
  once.fetch('https://shop.example/api/payments', { method: 'POST', body: JSON.stringify(cart), once: ['pay', cart.id] });
