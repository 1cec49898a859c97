/**
 * A shop over real HTTP for the snippets: what `oncefetch/testing` gives every user, behind `node:http`, and a few pages
 * to read. Faults happen on the wire: sockets are cut, bodies break off.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type IdempotentServer, idempotentServer } from '../../../src/testing/idempotent-server.js';

/** The test number of a declined card. */
export const DECLINED = '4000000000000002';

interface Order {
  readonly cart?: unknown;
  readonly card?: string | undefined;
  readonly total?: number | undefined;
  /** Of a GraphQL request. */
  readonly variables?: Order | undefined;
}

export interface Shop {
  readonly origin: string;
  readonly server: IdempotentServer;
  /** GETs so far, by path. */
  readonly reads: readonly string[];
  /** Answers 503 to the next GETs, as many as that. */
  failReads(count: number): void;
  /** Every request's headers, as they arrived. */
  readonly arrived: readonly IncomingMessage['headers'][];
  close(): Promise<void>;
}

const idOf = (cart: unknown): string => String(typeof cart === 'object' && cart !== null ? (cart as { id?: unknown }).id : cart);

function shopServer(): IdempotentServer {
  const server: IdempotentServer = idempotentServer<Order>({
    url: '/api/*',
    refuse: (order) => ((order?.card ?? order?.variables?.card) === DECLINED ? Response.json({ code: 'card_declined' }, { status: 402 }) : undefined),
    effect: (order) => {
      const id = `ch_${server.effects.length + 1}`;
      if ((order as { export?: unknown } | undefined)?.export) return new Response(null, { status: 202, headers: { location: '/api/exports/7' } });
      if ((order as { query?: unknown } | undefined)?.query) return { data: { pay: { id } } };
      return { id, ...(order?.cart === undefined ? {} : { cart: idOf(order.cart) }) };
    },
  });
  return server;
}

/** Opens on a free port. */
export async function openShop(): Promise<Shop> {
  const server = shopServer();
  const reads: string[] = [];
  const arrived: IncomingMessage['headers'][] = [];
  let failing = 0;
  const read = (path: string): Response => {
    reads.push(path);
    if (failing > 0) {
      failing--;
      return Response.json({ title: 'Unavailable' }, { status: 503 });
    }
    if (path === '/api/keys') return Response.json({ key: `issued-${reads.length}` });
    const cart = decodeURIComponent(/^\/api\/orders\/by-cart\/([^/]+)$/.exec(path)?.[1] ?? '');
    if (cart)
      return Response.json({
        state: server.effects.some(({ body }) => idOf((body as Order).cart ?? (body as { id?: unknown }).id) === cart) ? 'paid' : 'open',
      });
    const exported = path.startsWith('/api/exports/');
    const busy = exported && reads.filter((one) => one === path).length < 3;
    return Response.json(exported ? { state: busy ? 'running' : 'ready' } : { path }, { status: busy ? 202 : 200 });
  };
  const http = createServer((request, response) => {
    arrived.push(request.headers);
    void answer(request, response, server, read);
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  const { port } = http.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    server,
    reads,
    arrived,
    failReads: (count) => {
      failing = count;
    },
    close: () =>
      new Promise((closed) => {
        server.reset();
        http.close(() => closed());
        http.closeAllConnections();
      }),
  };
}

async function answer(from: IncomingMessage, to: ServerResponse, server: IdempotentServer, read: (path: string) => Response): Promise<void> {
  const { method = 'GET', url = '/', headers } = from;
  const gone = new AbortController();
  to.once('close', () => gone.abort());
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk as Buffer);
    const body = chunks.length ? Buffer.concat(chunks) : null;
    const init = { method, headers: headers as Record<string, string>, body: method === 'GET' ? null : body, signal: gone.signal };
    await send(to, method === 'GET' ? read(url) : await server.fetch(`http://shop.example${url}`, init));
  } catch {
    // Lost, cut or given up: on the wire that is a broken connection.
    to.destroy();
  }
}

async function send(to: ServerResponse, answer: Response): Promise<void> {
  to.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body) for await (const chunk of answer.body) await new Promise((written) => to.write(chunk, written));
  to.end();
}
