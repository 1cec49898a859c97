/** A billing service that is restarted, and the ledger that it calls. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from 'oncefetch/sqlite';
import { reload, shop, show } from '../support/stage.js';

export const file = join(mkdtempSync(join(tmpdir(), 'oncefetch-docs-')), 'oncefetch.db');
export const ledger = shop().origin;
export const order = { id: 'o-42', total: 4200 };
export const restart = reload;

/** The status of the answer that the service has stored. */
export async function keptAnswer(): Promise<unknown> {
  const store = sqlite.sqliteStore({ path: file });
  const { records } = await store.scan({ before: Number.POSITIVE_INFINITY, limit: 1 });
  await store.close();
  return (records[0] as { answer?: { status: number } } | undefined)?.answer?.status;
}
export { show };
