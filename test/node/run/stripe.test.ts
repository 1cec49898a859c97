/**
 * Goal: a payment made with a provider's own SDK, which has its own option for the key, takes effect once through `run`. Method: the real stripe
 * library against an HTTP server that keeps answers by key, as Stripe does, and makes the faults that a test asks for.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stripe as stripeDialect, stripeVerdict } from '../../../src/entries/dialects.js';
import { close, createOnce, type Once, outcomeOf, pending, run } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';

type Fault = 'lose-request' | 'lose-response' | 'conflict' | 'limited' | '500-stored';

const keys: string[] = [];
const answers = new Map<string, { readonly status: number; readonly body: string }>();
let faults: Fault[] = [];
let intents = 0;

const problem = (type: string, code: string) => JSON.stringify({ error: { type, code, message: code } });

/** The work behind the key layer, which keeps the answer for the key. */
function execute(form: URLSearchParams, fault: Fault | undefined) {
  if (fault === '500-stored') return { status: 500, body: problem('api_error', 'oops') };
  if (form.get('payment_method') === 'pm_declined') return { status: 402, body: problem('card_error', 'card_declined') };
  intents++;
  return { status: 200, body: JSON.stringify({ id: `pi_${intents}`, object: 'payment_intent', amount: Number(form.get('amount')) }) };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
  const key = String(request.headers['idempotency-key']);
  keys.push(key);
  const fault = faults.shift();
  if (fault === 'lose-request') return void request.socket.destroy();
  const send = (status: number, body: string, headers: object = {}) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  if (fault === 'conflict') return void send(409, problem('idempotency_error', 'idempotency_key_in_use'), { 'stripe-should-retry': 'true' });
  if (fault === 'limited') return void send(429, problem('rate_limit_error', 'rate_limit'));
  const known = answers.get(key);
  const { status, body } = known ?? execute(form, fault);
  answers.set(key, { status, body });
  if (fault === 'lose-response') return void request.socket.destroy();
  send(status, body, known && { 'idempotent-replayed': 'true' });
}

let server: Server;
let stripe: Stripe;
let withNodeClient: Stripe;
let folder: string;
let once: Once;
beforeEach(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const options = { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0, telemetry: false } as const;
  stripe = new Stripe('sk_test_x', { ...options, httpClient: Stripe.createFetchHttpClient() });
  withNodeClient = new Stripe('sk_test_x', options);
  folder = mkdtempSync(join(tmpdir(), 'oncefetch-stripe-'));
  [keys.length, intents] = [0, 0];
  answers.clear();
  once = createOnce({
    namespace: 'billing',
    store: sqliteStore({ path: join(folder, 'once.db') }),
    dialect: stripeDialect(),
    retry: { minDelayMs: 1, maxDelayMs: 5 },
  });
});
afterEach(async () => {
  await close(once);
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const charge = (order: string, card = 'pm_card', { sdk = stripe, attempts = 4 } = {}) =>
  run(
    once,
    ['charge', order],
    ({ key }) => sdk.paymentIntents.create({ amount: 4200, currency: 'eur', payment_method: card, confirm: true }, { idempotencyKey: key }),
    { verdict: stripeVerdict, limits: { attempts } },
  );

test.each<[string, readonly Fault[], string]>([
  ['no fault', [], 'fresh'],
  ['a lost request', ['lose-request'], 'fresh'],
  ['a lost answer', ['lose-response'], 'replayed'],
  ['a key in use, a rate limit', ['lose-response', 'conflict', 'limited'], 'replayed'],
])('%s: one intent under one key, and the caller gets it', async (_, met, type) => {
  faults = [...met];
  const intent = await charge('o-1');
  expect(intent.id).toBe('pi_1');
  expect(outcomeOf(intent)).toMatchObject({ type, effect: 'done' });
  expect([intents, new Set(keys).size, keys.length]).toEqual([1, 1, met.length + 1]);
  // A second call gets the remembered intent, and sends nothing.
  expect((await charge('o-1')).id).toBe('pi_1');
  expect(keys).toHaveLength(met.length + 1);
});

test("a declined card rejects with the SDK's own error and the effect none, and another card gets another key", async () => {
  const error = await charge('o-1', 'pm_declined').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Stripe.errors.StripeCardError);
  expect(outcomeOf(error)).toMatchObject({ type: 'rejected', effect: 'none' });
  expect((await charge('o-1')).id).toBe('pi_1');
  expect(new Set(keys).size).toBe(2);
});

test('A2: after a lost answer, the server repeats the decline for this key, so the effect is none', async () => {
  faults = ['lose-response'];
  const error = await charge('o-1', 'pm_declined').catch((caught: unknown) => caught);
  expect(outcomeOf(error)).toMatchObject({ type: 'rejected', effect: 'none' });
  expect([intents, keys.length, new Set(keys).size]).toEqual([0, 2, 1]);
});

test('A3: a 500 that the server keeps for the key proves nothing: the operation is unknown and pending, and keeps its key', async () => {
  faults = ['500-stored'];
  const error = await charge('o-1').catch((caught: unknown) => caught);
  expect(outcomeOf(error)).toMatchObject({ type: 'unknown', effect: 'unknown' });
  expect(await pending(once)).toMatchObject([{ name: ['charge', 'o-1'], key: keys[0] }]);
  await charge('o-1').catch(() => {});
  expect([intents, new Set(keys).size]).toEqual([0, 1]);
});

test('if every answer is lost, the effect is unknown, and the next delivery goes on under the same key', async () => {
  faults = Array<Fault>(4).fill('lose-response');
  const error = await charge('o-1').catch((caught: unknown) => caught);
  expect(outcomeOf(error)).toMatchObject({ effect: 'unknown', attempts: 4 });
  const intent = await charge('o-1');
  expect([intent.id, intents, new Set(keys).size]).toEqual(['pi_1', 1, 1]);
});

test("a rate limit after a lost answer does not make the effect none; the SDK's fetch client resends nothing by itself", async () => {
  faults = ['lose-response', 'limited'];
  const error = await charge('o-1', 'pm_card', { attempts: 2 }).catch((caught: unknown) => caught);
  expect(keys).toHaveLength(2);
  expect(outcomeOf(error)).toMatchObject({ effect: 'unknown' });
});

test("the SDK's Node client resends once when a connection closes, even with maxNetworkRetries 0, which is why docs use its fetch client", async () => {
  faults = ['lose-response', 'limited'];
  await charge('o-1', 'pm_card', { sdk: withNodeClient, attempts: 1 }).catch(() => {});
  expect(keys).toHaveLength(2);
});
