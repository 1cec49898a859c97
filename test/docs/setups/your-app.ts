/** The checkout of an app that is tested. */
import * as oncefetch from 'oncefetch';
import { show } from '../support/stage.js';

const app = oncefetch.createOnce({ namespace: 'u-7', store: oncefetch.memoryStore() });
export const checkout = (cart: { id: string; total: number; card?: string }): Promise<Response> =>
  app.fetch('https://shop.example/api/payments', { method: 'POST', body: JSON.stringify(cart), once: ['pay', cart.id] });
export { show };
