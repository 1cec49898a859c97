/**
 * A shop over real HTTP for the snippets: what `oncefetch/testing` gives every user, behind `node:http`, and a few pages
 * to read. Faults happen on the wire: sockets are cut, bodies break off.
 */
import type { ServerResponse } from 'node:http';
import { type IdempotentServer, idempotentServer } from '../../../src/testing/idempotent-server.js';
import { type Relayed, relay } from '../../support/relay.js';

/** The test number of a declined card. */
export const DECLINED = '4000000000000002';
/** An amount that the bank refuses, of any card. */
export const DECLINED_AMOUNT = 666;

interface Order {
  readonly cart?: unknown;
  readonly card?: string | undefined;
  readonly amount?: unknown;
  readonly total?: number | undefined;
  /** Of a GraphQL request. */
  readonly variables?: Order | undefined;
  /** Of a form: the key that the server rendered into it. */
  readonly key?: string | undefined;
}

/** What was ordered, as JSON or in the fields of a form. */
const orderOf = (body: Order | string | undefined): Order | undefined => (typeof body === 'string' ? Object.fromEntries(new URLSearchParams(body)) : body);

export interface Shop extends Relayed {
  readonly server: IdempotentServer;
  /** GETs so far, by path. */
  readonly reads: readonly string[];
  /** Answers the next `count` GETs with 503. */
  failReads(count: number): void;
  /** Every request's headers, as they arrived. */
  readonly arrived: readonly Readonly<Record<string, string>>[];
}

const idOf = (cart: unknown): string => String(typeof cart === 'object' && cart !== null ? (cart as { id?: unknown }).id : cart);

function shopServer(): IdempotentServer {
  let refusals = 0;
  const server: IdempotentServer = idempotentServer<Order>({
    url: '/api/*',
    refuse: (body) => {
      const order = orderOf(body);
      const declined = (order?.card ?? order?.variables?.card) === DECLINED || order?.amount === DECLINED_AMOUNT;
      if (!declined) return undefined;
      // As most GraphQL servers do: the refusal is inside a 200.
      if (order?.variables) return Response.json({ errors: [{ message: 'Declined', extensions: { code: 'CARD_DECLINED' } }], data: { pay: null } });
      refusals++;
      // A form gets the key that it sends next.
      return Response.json({ code: 'card_declined', ...(order?.key !== undefined && { key: `k-${refusals + 1}` }) }, { status: 402 });
    },
    effect: (order) => {
      const id = `ch_${server.effects.length + 1}`;
      if ((order as { export?: unknown } | undefined)?.export) return new Response(null, { status: 202, headers: { location: '/api/exports/7' } });
      if ((order as { query?: unknown } | undefined)?.query) return { data: { pay: { id } } };
      return { id, ...(order?.cart === undefined ? {} : { cart: idOf(order.cart) }) };
    },
  });
  return server;
}

/** Opens a shop on a free port. */
export async function openShop(): Promise<Shop> {
  const server = shopServer();
  const reads: string[] = [];
  const arrived: Record<string, string>[] = [];
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
  const serve = (url: string, init: RequestInit): Response | Promise<Response> => {
    arrived.push(init.headers as Record<string, string>);
    return init.method === 'GET' ? read(new URL(url).pathname) : server.fetch(url, init);
  };
  const relayed = await relay(serve, send);
  return {
    ...relayed,
    server,
    reads,
    arrived,
    failReads: (count) => {
      failing = count;
    },
    close: () => {
      server.reset();
      return relayed.close();
    },
  };
}

async function send(to: ServerResponse, answer: Response): Promise<void> {
  to.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body) for await (const chunk of answer.body) await new Promise((written) => to.write(chunk, written));
  to.end();
}
