/** A checkout page: a cart, a user who is logged in, and a screen. */
import { shop, show } from '../support/stage.js';

export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };
export const session: { userId: string | null; guestId: string } = { userId: 'u-7', guestId: 'guest-7f1c' };
export { shop, show };
