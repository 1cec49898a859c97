/** A page with a client, for snippets that need no more. */
import * as oncefetch from 'oncefetch';
import { show } from '../support/stage.js';

export const once = oncefetch.createOnce({ namespace: 'u-7' });
export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };
export { show };
