/** A page with a client, for the HTTP clients of other packages. */
import * as oncefetch from 'oncefetch';
import { shop, show } from '../support/stage.js';

export const { outcomeOf } = oncefetch;
export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };
export const origin = shop().origin;
export const createOnce = oncefetch.createOnce;
export const once = createOnce({ namespace: 'u-7' });
export { show };
