/** What a snippet with a server of its own leaves to its reader: the log-in, and a port. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

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
