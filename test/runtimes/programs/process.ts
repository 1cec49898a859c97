/** A process that serves on a free port, which it prints: by the server of Deno, of Bun, or of Node. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer, clientOver } from './app.js';

interface Servers {
  readonly Deno?: { serve(options: object, handler: (request: Request) => Promise<Response>): unknown };
  readonly Bun?: { serve(options: object): { readonly port: number } };
}

const once = clientOver();
const handle = (request: Request): Promise<Response> => answer(once, request);
const listening = (port: number): void => console.log(`listening ${port}`);
const { Deno, Bun } = globalThis as Servers;

if (Deno) Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: ({ port }: { port: number }) => listening(port) }, handle);
else if (Bun) listening(Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 60, fetch: handle }).port);
else {
  const server = createServer(async (asked, told) => {
    const response = await handle(new Request(`http://127.0.0.1${asked.url}`));
    told.end(await response.text());
  });
  server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port));
}
