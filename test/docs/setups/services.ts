/** A billing service that is restarted, and the ledger that it calls. */
import { reload, shop, show } from '../support/stage.js';

export const ledger = shop().origin;
export const order = { id: 'o-42', total: 4200 };
export const restart = reload;
export { show };
