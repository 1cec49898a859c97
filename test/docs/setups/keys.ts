/** A checkout page that chooses its own keys, and a customer who clears the browser. */
import type { Evidence } from 'oncefetch';
import { DECLINED } from '../support/shop.js';
import { evict, shop, show } from '../support/stage.js';

export const cart = { id: 'c-42', total: 4200 };
export const session = { userId: 'u-7' };
export const card = '4242424242424242';
export const goodCard = card;
export const declinedCard = DECLINED;
/** The `verdict` that the page shows. */
export const verdict = ({ status, json }: Evidence) =>
  status === 402 && (json as { code?: string }).code === 'card_declined' ? ('rejected-for-good' as const) : undefined;
export const clearBrowser = evict;
export { shop, show };
