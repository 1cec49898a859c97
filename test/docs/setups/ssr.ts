/** A process that renders pages and serves actions. No user is logged in to the process itself. */
import { renderToStaticMarkup } from 'react-dom/server';
import { shop, show } from '../support/stage.js';

export const session: { readonly userId: string } = {
  get userId(): string {
    throw new Error('there is no session outside a page');
  },
};
export const ledger = shop().origin;
export const cart = { id: 'c-42', total: 4200 };
export { renderToStaticMarkup, show };
