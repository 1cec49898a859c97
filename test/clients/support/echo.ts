/** A server that reports each request in full, and answers in every way that a client can tell apart. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived, without the time. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly bytes: number;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
}

export interface Echo {
  readonly arrivals: Arrival[];
  at(path: string): string;
  close(): Promise<void>;
}

/** The body of `/hello`. Tests compute its digest for the option `integrity`. */
export const HELLO = 'hello, stranger';
export const LARGE_BYTES = 3_000_000;

const TEXT = { 'content-type': 'text/plain', 'x-own': 'heard' };

const answers: Readonly<Record<string, (response: ServerResponse, arrival: Arrival) => void>> = {
  hello: (response) => response.writeHead(200, TEXT).end(HELLO),
  json: (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":[1,2]}'),
  nothing: (response) => response.writeHead(204).end(),
  missing: (response) => response.writeHead(404, 'Gone Fishing', TEXT).end('not here'),
  cookies: (response) => response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], vary: 'accept' }).end('sweet'),
  moved: (response) => response.writeHead(302, { location: '/hello?moved' }).end(),
  kept: (response) => response.writeHead(307, { location: '/told' }).end(),
  other: (response) => response.writeHead(303, { location: '/hello' }).end(),
  circle: (response) => response.writeHead(302, { location: '/circle' }).end(),
  large: (response) => response.writeHead(200, { 'content-length': LARGE_BYTES }).end(Buffer.alloc(LARGE_BYTES, 7)),
  events: (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n'),
  busy: (response) => response.writeHead(503, TEXT).end('later'),
  cut: (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('only this');
    setTimeout(() => response.destroy(), 20);
  },
  lost: (response) => response.destroy(),
  never: () => {},
  told: (response, arrival) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(arrival)),
};

async function arrived(request: IncomingMessage): Promise<Arrival> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { method: request.method ?? '', path: request.url ?? '', headers: request.rawHeaders, bytes, digest: digest.digest('hex') };
}

export async function openEcho(): Promise<Echo> {
  const arrivals: Arrival[] = [];
  const http = createServer((request, response) => {
    void arrived(request).then(
      (arrival) => {
        arrivals.push(arrival);
        const [, path = ''] = /^\/(\w*)/.exec(arrival.path) ?? [];
        answers[path]?.(response, arrival);
      },
      // The client has gone.
      () => response.destroy(),
    );
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return {
    arrivals,
    at: (path) => `http://127.0.0.1:${(http.address() as AddressInfo).port}/${path}`,
    close: () =>
      new Promise((closed) => {
        http.close(() => closed());
        http.closeAllConnections();
      }),
  };
}
