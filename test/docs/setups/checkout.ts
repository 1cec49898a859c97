/** A checkout page: a cart, somebody who is logged in, and a screen. */
import { shop, show } from '../support/stage.js';

export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };
export const session: { userId: string | null } = { userId: 'u-7' };
export { shop, show };
