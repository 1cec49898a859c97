/** A service that takes keys and passes the work on to a ledger, which takes keys, too. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountOf, listen } from '../support/listening.js';
import { DECLINED_AMOUNT } from '../support/shop.js';
import { shop, show } from '../support/stage.js';

export const file = join(mkdtempSync(join(tmpdir(), 'oncefetch-docs-')), 'oncefetch.db');
export const ledger = shop().origin;
export const declinedAmount = DECLINED_AMOUNT;
export { accountOf, listen, show };
