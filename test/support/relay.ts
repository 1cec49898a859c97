/** Serves the {@link fetch} of a test server over `node:http`, so that faults happen on a real connection. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Relayed {
  readonly origin: string;
  close(): Promise<void>;
}

/** Gets each answer from `serve`; `send` writes it. If `serve` throws, the connection breaks. */
export async function relay(
  serve: (url: string, init: RequestInit) => Response | Promise<Response>,
  send: (to: ServerResponse, answer: Response, from: IncomingMessage) => Promise<void>,
): Promise<Relayed> {
  const http = createServer((from, to) => {
    requestOf(from, to)
      .then(async ([url, init]) => send(to, await serve(url, init), from))
      .catch(() => to.destroy());
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return { origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close: () => closed(http) };
}

async function requestOf(from: IncomingMessage, to: ServerResponse): Promise<[url: string, init: RequestInit]> {
  const { method = 'GET', url = '/', headers } = from;
  const gone = new AbortController();
  to.once('close', () => gone.abort());
  const chunks: Buffer[] = [];
  for await (const chunk of from) chunks.push(chunk as Buffer);
  const body = chunks.length > 0 && method !== 'GET' ? Buffer.concat(chunks) : null;
  return [`http://shop.example${url}`, { method, headers: headers as Record<string, string>, body, signal: gone.signal }];
}

function closed(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve());
    http.closeAllConnections();
  });
}
