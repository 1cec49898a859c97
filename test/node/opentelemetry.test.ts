/**
 * Goal: an operator of a service sees each operation, its attempts and the transport's spans as one trace. Method: a real HTTP
 * server that loses answers, SQLite, a process that is killed, and OpenTelemetry's own SDK with a context manager that follows
 * asynchronous work.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { close, createOnce, type Once } from '../../src/entries/node.js';
import { openTelemetry } from '../../src/entries/opentelemetry.js';
import { sqliteStore } from '../../src/entries/sqlite.js';
import { script } from '../support/child.js';
import { breachesOfClient, brief, disableGlobals, strangers, Telemetry } from '../support/telemetry.js';

/** A context manager like that of `@opentelemetry/context-async-hooks`. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT;
  with: ContextManager['with'] = (active, work, self, ...args) => this.#storage.run(active, () => work.apply(self as never, args));
  bind = <T>(active: Context, target: T): T =>
    typeof target === 'function' ? (((...args: unknown[]) => this.with(active, () => target(...args))) as T) : target;
  enable = (): this => this;
  disable = (): this => this;
}

type Fate = 'lost' | 'held' | undefined;

interface Ledger {
  readonly url: string;
  readonly fates: Fate[];
  readonly parents: (string | undefined)[];
  readonly effects: Set<string>;
  arrived(count: number): Promise<void>;
  server: Server;
}

/** Starts a server that honours keys. `fates` says what happens to its next answers. */
async function ledger(): Promise<Ledger> {
  const [fates, parents, effects]: [Fate[], (string | undefined)[], Set<string>] = [[], [], new Set()];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const key = String(request.headers['idempotency-key']);
    const replay = effects.has(key);
    effects.add(key);
    parents.push(request.headers['traceparent'] as string | undefined);
    const fate = fates.shift();
    if (fate === 'lost') request.socket.destroy();
    if (fate === undefined) response.writeHead(201, replay ? { 'idempotent-replayed': 'true' } : {}).end('{}');
  };
  const server = createServer((request, response) => void request.resume().on('end', () => answer(request, response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrived = async (count: number) => {
    while (parents.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/charges?token=t`, fates, parents, effects, arrived, server };
}

let folder: string;
let there: Ledger;
let telemetry: Telemetry;
let once: Once;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oncefetch-otel-'));
  there = await ledger();
  telemetry = new Telemetry();
  context.setGlobalContextManager(new AsyncContexts());
  once = createOnce({
    namespace: 'billing',
    store: sqliteStore({ path: join(folder, 'once.db') }),
    retry: { minDelayMs: 1, maxDelayMs: 2 },
    use: [openTelemetry(telemetry.providers)],
    fetch: telemetry.instrumented(),
  });
});
afterEach(async () => {
  await close(once);
  expect(telemetry.open).toBe(0);
  await telemetry.shutdown();
  disableGlobals();
  there.server.closeAllConnections();
  there.server.close();
  rmSync(folder, { recursive: true, force: true });
});

const pay = (cart: string) => once.fetch(there.url, { method: 'POST', body: '{"cart":1}', once: ['pay', cart] });

const ending = (more: object) => ({ 'oncefetch.effect': 'done', 'oncefetch.resumed': false, 'oncefetch.stored_in': 'disk', ...more });

test('a lost answer, a replay, a join and a take-over each make one whole trace that follows the semantic conventions', { timeout: 60_000 }, async () => {
  there.fates.push('lost', undefined, undefined, 'held');
  await pay('lost');
  await pay('lost');
  await Promise.all([pay('joined'), pay('joined')]);
  const worker = script(join(import.meta.dirname, 'opentelemetry-worker.ts'));
  const child = worker.start([join(folder, 'once.db'), there.url]);
  await there.arrived(4);
  child.process.kill('SIGKILL');
  await child.ended;
  worker.remove();
  await pay('taken over');

  expect(there.effects.size).toBe(3);
  expect(telemetry.operations.map(brief).map(({ attributes, events }) => ({ attributes, events }))).toEqual([
    {
      attributes: ending({ 'oncefetch.type': 'replayed', 'oncefetch.replayed_from': 'server', 'oncefetch.attempt.count': 2 }),
      events: ['oncefetch.waiting backoff'],
    },
    {
      attributes: ending({ 'oncefetch.type': 'replayed', 'oncefetch.replayed_from': 'memory', 'oncefetch.attempt.count': 0, 'oncefetch.resumed': true }),
      events: [],
    },
    { attributes: ending({ 'oncefetch.type': 'fresh', 'oncefetch.attempt.count': 1, 'oncefetch.joined_calls': 1 }), events: ['oncefetch.call_joined'] },
    {
      attributes: ending({ 'oncefetch.type': 'replayed', 'oncefetch.replayed_from': 'server', 'oncefetch.attempt.count': 1, 'oncefetch.resumed': true }),
      events: [],
    },
  ]);

  const attempts = telemetry.operations.flatMap((operation) => telemetry.below(operation));
  const request = {
    'http.request.method': 'POST',
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(there.url).port),
    'url.full': there.url.replace('token=t', 'REDACTED'),
  };
  expect(attempts.map(({ attributes }) => attributes)).toEqual([
    { ...request, 'error.type': 'TypeError' },
    { ...request, 'http.response.status_code': 201, 'http.request.resend_count': 1 },
    { ...request, 'http.response.status_code': 201 },
    { ...request, 'http.response.status_code': 201, 'http.request.resend_count': 1 },
  ]);
  expect(attempts.flatMap(breachesOfClient)).toEqual([]);
  expect(telemetry.spans.flatMap(({ attributes }) => strangers(attributes))).toEqual([]);
  expect(await telemetry.metric('duplicates')).toEqual({ joined: 1, 'replayed server': 2, 'replayed memory': 1 });
  expect(await telemetry.metric('unsettled')).toEqual({ '': 0 });

  // The transport's span is a child of its attempt, and is the parent that the server is told.
  const transports = attempts.flatMap((attempt) => telemetry.below(attempt));
  expect(transports.map(({ name }) => name)).toEqual(['transport', 'transport', 'transport', 'transport']);
  const parents = there.parents.filter((parent) => parent !== undefined);
  expect(parents).toEqual(transports.map((span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`));
});

test('the spans of a hook are below the operation, and the operation is below the request that it serves', async () => {
  const serves = telemetry.tracer.startSpan('serves');
  const hooked = context.with(trace.setSpan(context.active(), serves), () =>
    once.fetch(there.url, {
      method: 'POST',
      once: {
        operation: ['pay', 1],
        headers: async () => {
          telemetry.tracer.startSpan('fetch a token').end();
          return { authorization: 'Bearer t' };
        },
      },
    }),
  );
  await hooked;
  serves.end();
  const [operation] = telemetry.below(telemetry.spans.find(({ name }) => name === 'serves'));
  expect(telemetry.below(operation).map(({ name }) => name)).toEqual(['fetch a token', 'POST']);
});
