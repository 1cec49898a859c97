/** What is under `/site/`: pages, scripts and shops for tests in browsers, as middleware of vitest's own server. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Fault, FaultName } from '../../../src/testing/faults.js';
import { bundles } from './bundles.js';
import { Shop } from './shop.js';

const SERVICE_WORKER = `
importScripts('/site/classic.js');
const { searchParams } = new URL(location);
const { createOnce, extend, SOON } = oncefetch;
// What it sends can be told from what a page sends.
const marked = (input, init = {}) => {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set('x-through', 'service worker');
  return fetch(input, { ...init, headers });
};
const once = extend(createOnce({ ...SOON, namespace: searchParams.get('namespace') }), { fetch: marked });
const answers = {
  once: (request) => once.fetch(request),
  'offline-page': async () => new Response('<!doctype html>You are offline.', { headers: { 'content-type': 'text/html' } }),
  passes: (request) => fetch(request),
  // What has arrived when the connection breaks is passed on as the whole answer.
  'ends-what-breaks': async (request) => {
    const { body, status, headers } = await fetch(request);
    const reader = body.getReader();
    const pull = (to) => reader.read().then(({ done, value }) => (done ? to.close() : to.enqueue(value)), () => to.close());
    return new Response(new ReadableStream({ pull }), { status, headers });
  },
};
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (/\\/(pay|cached)$/.test(event.request.url)) event.respondWith(answers[searchParams.get('kind')](event.request));
});
`;

const MOCK_SERVICE_WORKER = fileURLToPath(import.meta.resolve('msw/mockServiceWorker.js'));

type Route = (request: IncomingMessage, response: ServerResponse, match: readonly string[], shops: Map<string, Shop>) => unknown;

const send = (response: ServerResponse, type: string, body: string | undefined, headers: Record<string, string> = {}): void => {
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, 'cache-control': 'no-store', ...headers }).end(body);
};
const page = (response: ServerResponse, body: string, headers?: Record<string, string>) =>
  send(response, 'text/html', `<!doctype html><title>a realm</title>${body}`, headers);
const script = (response: ServerResponse, text: string | undefined, headers?: Record<string, string>) => send(response, 'text/javascript', text, headers);

/** The form of the customer's present order. Each load of the page is another order, under another key. */
const orderForm = (): string => {
  const order = randomUUID();
  const hidden = (name: string, value: string): string => `<input type="hidden" name="${name}" value="${value}">`;
  return `<once-form operation="pay ${order}"><form method="post">${hidden('order', order)}${hidden('idempotency-key', `k-${order}`)}<button>Pay</button></form></once-form>`;
};

const routes: readonly (readonly [pattern: RegExp, route: Route])[] = [
  [
    /^\/site\/order\.html/,
    (_, response) => page(response, `${orderForm()}<script type="module" src="/site/realm/a/realm.js"></script>`, { 'cache-control': 'max-age=0' }),
  ],
  [
    /^\/site\/(?:.*\/)?realm\.html/,
    (request, response) =>
      page(response, `<script type="module" src="/site/realm/${new URL(request.url ?? '', 'http://site').searchParams.get('copy')}/realm.js"></script>`),
  ],
  [/^\/site\/empty\.html/, (_, response) => page(response, '')],
  // Each copy has its own path, so the browser loads all its modules again. A sandboxed page may load them, too.
  [
    /^\/site\/realm\/\w+\/([\w.-]+\.js)/,
    async (_, response, [file = '']) => script(response, (await bundles()).file(file), { 'access-control-allow-origin': '*' }),
  ],
  [/^\/site\/classic\.js/, async (_, response) => script(response, (await bundles()).classic)],
  [/^\/site\/service-worker\.js/, (_, response) => script(response, SERVICE_WORKER, { 'service-worker-allowed': '/site/' })],
  // MSW requests its worker at the root.
  [/^\/mockServiceWorker\.js/, (_, response) => script(response, readFileSync(MOCK_SERVICE_WORKER, 'utf8'))],
  [/^\/site\/clear\.html/, (_, response) => page(response, '', { 'clear-site-data': '"storage"' })],
  [
    /^\/site\/shop\/([\w-]+)\/(\w+)/,
    (request, response, [id = '', verb = ''], shops) => atShop(request, response, verb, shops.get(id) ?? (shops.set(id, new Shop()).get(id) as Shop)),
  ],
];

async function json(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

/** Half the size of a large answer, bytes. */
const HALF = 1_500_000;
/** Large answers of which the second half is not sent yet. */
const halves = new WeakMap<Shop, ServerResponse>();

async function atShop(request: IncomingMessage, response: ServerResponse, verb: string, shop: Shop): Promise<void> {
  const tell = (value: unknown = {}) => send(response, 'application/json', JSON.stringify(value));
  switch (verb) {
    case 'pay':
      return shop.pay(request, response);
    case 'events':
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      return;
    case 'large':
      return void response.writeHead(201, { 'content-type': 'application/octet-stream' }).end(Buffer.alloc(2 * HALF));
    case 'halves':
      // The second half is sent on request, by a test that has seen the first half.
      response.writeHead(201, { 'content-type': 'application/octet-stream' }).write(Buffer.alloc(HALF));
      return void halves.set(shop, response);
    case 'rest':
      halves.get(shop)?.end(Buffer.alloc(HALF));
      return tell();
    case 'moved':
      return void response.writeHead(302, { location: '/site/empty.html' }).end();
    case 'echo':
      response.setHeader('set-cookie', 'seen=yes; Path=/site/');
      response.setHeader('x-echo', 'heard');
      return tell({ method: request.method, headers: request.headers });
    case 'cached':
      return void response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'max-age=60' }).end(String(++shop.reads));
    case 'nothing':
      return void response.writeHead(204).end();
    case 'missing':
      return void response.writeHead(404, 'Gone Fishing', { 'content-type': 'text/plain' }).end('not here');
    case 'faults':
      shop.faults.next(...((await json(request)) as (FaultName | Fault | 'none')[]));
      return tell();
    case 'hold':
      shop.hold();
      return tell();
    case 'release':
      shop.release();
      return tell();
    default:
      return tell({ effects: shop.effects, arrivals: shop.arrivals });
  }
}

const EXPOSED = 'Idempotent-Replayed, Retry-After';

/** The same shops on another origin. The first part of a path says how the shop answers to CORS. */
async function abroad(shops: Map<string, Shop>): Promise<Server> {
  const server = createServer((request, response) => {
    const [, cors = '', path = ''] = /^\/(\w+)(\/.*)/.exec(request.url ?? '') ?? [];
    request.url = path;
    response.setHeader('access-control-allow-origin', cors === 'closed' ? 'https://elsewhere.example' : '*');
    if (cors === 'open') response.setHeader('access-control-expose-headers', EXPOSED);
    if (request.method !== 'OPTIONS') return void answer(request, response, shops);
    // `simple` answers a preflight with a 404.
    if (cors === 'open' || cors === 'hiding') response.setHeader('access-control-allow-headers', 'idempotency-key, x-send, content-type');
    response.writeHead(cors === 'simple' ? 404 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.unref();
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Answers requests under `/site/` and for MSW's worker; `false` for all others. */
export function site(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const shops = new Map<string, Shop>();
  let elsewhere: Promise<Server> | undefined;
  return (request, response) => {
    if (request.url !== '/site/abroad') return answer(request, response, shops);
    elsewhere ??= abroad(shops);
    void elsewhere.then((server) => send(response, 'text/plain', originOf(server)));
    return true;
  };
}

function answer(request: IncomingMessage, response: ServerResponse, shops: Map<string, Shop>): boolean {
  for (const [pattern, route] of routes) {
    const match = pattern.exec(request.url ?? '');
    if (!match) continue;
    Promise.resolve(route(request, response, match.slice(1), shops)).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
    return true;
  }
  return false;
}
