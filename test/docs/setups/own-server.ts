/** A process that is a server itself: a file for its database, and a bank that takes its time. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOnce, memoryStore, outcomeOf } from 'oncefetch';
import { show } from '../support/stage.js';

export const file = ':memory:';
export const askTheBank = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
export async function listen(server: Server): Promise<{ readonly url: string; [Symbol.asyncDispose](): Promise<void> }> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const close = (): Promise<void> =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close };
}
export { createOnce, memoryStore, outcomeOf, show };
