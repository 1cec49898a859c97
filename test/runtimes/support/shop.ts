/** A shop that charges once for each key. The path of a request says what happens to the first answer to its key. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const SLOW_MS = 100;

export interface Shop {
  /** The keys that were charged, in order; a request without a key is charged under ''. */
  readonly charges: readonly string[];
  readonly requests: number;
  /** `lost`: charges, and breaks the connection. `held`: charges, and does not answer. `deaf`: never answers the first key that was charged. */
  at(path: 'charge' | 'slow' | 'lost' | 'held' | 'deaf'): string;
  /** Resolves when this many charges were made. */
  charged(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startShop(): Promise<Shop> {
  const charges: string[] = [];
  let requests = 0;
  let looked = (): void => {};
  const say = (response: ServerResponse, number: number, again: boolean): void => {
    response.writeHead(201, { 'content-type': 'application/json', ...(again && { 'idempotent-replayed': 'true' }) });
    response.end(JSON.stringify({ charge: number }));
  };
  const server = createServer((request, response) => {
    requests++;
    const key = String(request.headers['idempotency-key'] ?? '');
    const earlier = key === '' ? -1 : charges.indexOf(key);
    if (request.url === '/deaf' && earlier === 0) return void request.socket.destroy();
    if (earlier >= 0) return say(response, earlier, true);
    charges.push(key);
    looked();
    const number = charges.length - 1;
    if (request.url === '/lost' || (request.url === '/deaf' && number === 0)) return void request.socket.destroy();
    if (request.url === '/held') return;
    setTimeout(() => say(response, number, false), request.url === '/slow' ? SLOW_MS : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    charges,
    get requests() {
      return requests;
    },
    at: (path) => `http://127.0.0.1:${port}/${path}`,
    charged: (count) =>
      new Promise((resolve) => {
        looked = () => charges.length >= count && resolve();
        looked();
      }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
