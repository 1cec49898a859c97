/**
 * A proxy that sends requests for every host to one port. So a host that does not exist gets a server, and its origin
 * is not a secure context.
 */
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Proxy {
  /** `127.0.0.1:1234` */
  readonly address: string;
  stop(): Promise<void>;
}

export async function startProxy(port: number): Promise<Proxy> {
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://nowhere');
    const onward = ask({ host: '127.0.0.1', port, method: request.method, path: pathname + search, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response).on('error', () => {});
      answer.on('error', () => response.destroy());
    });
    // If the answer is lost behind the proxy, the client loses it as well.
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  // Refuses the TLS requests that a browser makes for its own purposes.
  server.on('connect', (_, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
