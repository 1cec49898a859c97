/** A service that takes keys and passes the work on to a ledger, which takes keys, too. */
import { mkdtempSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DECLINED_AMOUNT } from '../support/shop.js';
import { shop, show } from '../support/stage.js';

export const file = join(mkdtempSync(join(tmpdir(), 'oncefetch-docs-')), 'oncefetch.db');
export const ledger = shop().origin;
export const declinedAmount = DECLINED_AMOUNT;
export const accountOf = ({ headers }: { headers: { authorization?: string | undefined } }): string | undefined =>
  /^Bearer (ann|bob)$/.exec(headers.authorization ?? '')?.[1];
export async function listen(server: Server): Promise<{ readonly url: string; [Symbol.asyncDispose](): Promise<void> }> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const close = (): Promise<void> =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close };
}
export { show };
