/** An ordinary form, as its server rendered it. */
import { DECLINED } from '../support/shop.js';
import { shop, show } from '../support/stage.js';

/** For whom the server rendered it. */
export const customer = 'u-7';
export const session = { userId: customer };
const fields = (card: string): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries({ cart: 'c-42', key: 'k-from-the-server', card })) data.set(name, value);
  return data;
};
/** What the customer filled in. The rendered page, and so its key, stays the same. */
export const filledIn = (): FormData => fields('4242424242424242');
export const declined = (): FormData => fields(DECLINED);
export { shop, show };
