/** A process that is itself a server: a file for its database, a log-in, and a bank that takes its time. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOnce, memoryStore, outcomeOf } from 'oncefetch';
import { show } from '../support/stage.js';

export const file = ':memory:';
export const accountOf = ({ headers }: { headers: { authorization?: string | undefined } }): string | undefined =>
  /^Bearer (ann|bob)$/.exec(headers.authorization ?? '')?.[1];
const failed = new Set<string>();
/** Whether the card is good; it throws once for a card `fails-once`. */
export async function askTheBank(body: string, key: string, signal: AbortSignal): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  signal.throwIfAborted();
  const { card } = JSON.parse(body) as { card?: string };
  if (card === 'fails-once' && !failed.has(key)) {
    failed.add(key);
    throw new Error('the bank does not answer');
  }
  return card !== 'declined';
}
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
