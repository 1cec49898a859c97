/** A billing service that is restarted, and the ledger that it calls. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reload, shop, show } from '../support/stage.js';

export const file = join(mkdtempSync(join(tmpdir(), 'oncefetch-docs-')), 'oncefetch.db');
export const ledger = shop().origin;
export const order = { id: 'o-42', total: 4200 };
export const restart = reload;
export { show };
