/**
 * The shop's server: a ledger in SQLite, payments that honour idempotency keys, and a fault layer in front of them.
 *
 *     node playground/server/main.ts --port 4000 --db shop.db [--public DIR] [--charge-ms 150] [--window-ms 86400000] [--retry-after 1]
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { emptyAll, openDatabase } from './database.ts';
import { FaultLayer } from './faults.ts';
import { type FormPage, PlainForm } from './form.ts';
import { type Answer, BadRequest, json, parseObject, problem, readBody, send } from './http.ts';
import { IdempotencyKeys } from './idempotency-keys.ts';
import { declareIntents, ledger, orderByCart } from './ledger.ts';
import { Payments } from './payments.ts';
import { sendFile } from './static-files.ts';

const { values: args } = parseArgs({
  options: {
    port: { type: 'string', default: process.env['PORT'] ?? '4000' },
    db: { type: 'string', default: process.env['SHOP_DB'] ?? 'shop.db' },
    public: { type: 'string' },
    'charge-ms': { type: 'string', default: '150' },
    'window-ms': { type: 'string', default: String(24 * 60 * 60 * 1000) },
    /** The `Retry-After` of a 409, in seconds. */
    'retry-after': { type: 'string', default: '1' },
  },
});

const boot = randomUUID();
const db = openDatabase(args.db);
const keys = new IdempotencyKeys(db, { boot, windowMs: Number(args['window-ms']), retryAfter: Number(args['retry-after']) });
const payments = new Payments(db, keys, { chargeMs: Number(args['charge-ms']) });
const faults = new FaultLayer(db);
const FORMS: readonly FormPage[] = [
  { path: '/form/', field: 'key' },
  { path: '/once-form/', field: 'idempotency-key' },
];
const { public: folder } = args;
const forms = folder === undefined ? [] : FORMS.map((page) => ({ ...page, form: new PlainForm(db, payments, faults, folder, page) }));

async function pay(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  const body = await readBody(request);
  const lane = String(request.headers['x-lane'] ?? 'default');
  const key = request.headers['idempotency-key'] as string | undefined;
  const { cart } = parseObject(body);
  await faults.handle({ request, response, pay: (moments) => payments.pay({ method: 'POST', path, body, key, lane }, moments) }, lane, String(cart));
}

/** All routes except payments. No fault touches them. */
const routes: Readonly<Record<string, (url: URL, body: Record<string, unknown>) => Answer>> = {
  'GET /api/health': () => json(200, { boot, pid: process.pid, busy: payments.busy }),
  'GET /api/ledger': () => ledger(db),
  'POST /api/intents': (_, body) => declareIntents(db, body),
  'GET /api/faults': () => faults.list(),
  'POST /api/faults': (_, body) => faults.arm(body),
  'DELETE /api/faults': (url) => faults.disarm(url.searchParams.get('lane')),
  'POST /api/reset': () => {
    emptyAll(db);
    return json(200, {});
  },
};

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET' } = request;
  const url = new URL(request.url ?? '/', 'http://shop');
  const { pathname } = url;
  if (`${method} ${pathname}` === 'POST /api/payments') return pay(request, response, pathname);
  for (const { path, form } of forms) {
    if (pathname === path) return method === 'POST' ? form.pay(request, response) : form.show(request, response);
    if (`${method} ${pathname}` === `POST ${path}new`) return form.startAnother(request, response);
    if (`${method} ${pathname}` === `POST ${path}user`) return form.logIn(request, response);
  }
  const route = routes[`${method} ${pathname}`];
  if (route) {
    const body = method === 'POST' ? await readBody(request) : '';
    return send(response, route(url, body === '' ? {} : parseObject(body)));
  }
  const order = /^\/api\/orders\/by-cart\/([^/]+)$/.exec(pathname)?.[1];
  if (order && method === 'GET') return send(response, orderByCart(db, decodeURIComponent(order), url.searchParams.get('lane')));
  if (args.public && (method === 'GET' || method === 'HEAD') && sendFile(response, args.public, pathname, method)) return;
  send(response, problem(404, { title: 'Not found' }));
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    if (response.headersSent || response.destroyed) return;
    if (error instanceof BadRequest) return send(response, problem(error.status, { title: 'Bad request', detail: error.message }));
    console.error(error);
    send(response, problem(500, { title: 'Internal error' }));
  });
});

function cleanUp(): void {
  const BATCH = 500;
  // A full batch means that more keys are waiting. Requests get their turn between batches.
  setTimeout(cleanUp, keys.cleanUp(BATCH) === BATCH ? 50 : 60_000).unref();
}

function stop(): void {
  server.close(() => {
    db.close();
    process.exit(0);
  });
  server.closeAllConnections();
}

server.listen(Number(args.port), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`shop on http://127.0.0.1:${port} (boot ${boot})`);
  process.send?.({ port });
  cleanUp();
});
process.once('SIGTERM', stop).once('SIGINT', stop);
// Ends together with the supervisor, because nobody else would end it.
process.once('disconnect', stop);
