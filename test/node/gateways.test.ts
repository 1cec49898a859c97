/**
 * Goal: a gateway that resends a request by itself, as service meshes do after a connection reset, causes neither a
 * second charge nor an untrue outcome. Method: Node's own fetch and a real gateway in front of a real server that
 * charges and breaks the connection. The answer to the second copy varies.
 */
import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { around, createOnce, memoryStore, type OnceOptions, outcomeOf } from 'oncefetch/node';
import { afterEach, expect, test } from 'vitest';

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => void end()));

async function listening(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

/** The server's answer to a key that it knows. `stored` is the body of the first request with this key. */
type Again = (body: string, stored: string, requests: number) => readonly [status: number, says: object];

/** A server that breaks the connection after its first charge, behind a gateway that resends once. */
async function behindGateway(again: Again) {
  const charged = new Map<string, string>();
  let requests = 0;
  const port = await listening(async (from, to) => {
    const [key, body] = [String(from.headers['idempotency-key']), await text(from)];
    const stored = charged.get(key);
    charged.set(key, stored ?? body);
    if (++requests === 1) return void from.socket.destroy();
    const [status, says] = stored === undefined ? [201, {}] : again(body, stored, requests);
    to.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(says));
  });
  const gateway = await listening(async (from, to) => {
    const { headers, method } = from;
    const body = await text(from);
    const send = (left: number): void =>
      void request({ port, headers, method, agent: false }, (answer) => answer.pipe(to.writeHead(answer.statusCode ?? 0, answer.headers)))
        .on('error', () => (left ? send(left - 1) : to.writeHead(502).end()))
        .end(body);
    send(1);
  });
  const press = (options: OnceOptions, method = 'POST') => {
    const once = createOnce({ store: memoryStore(), namespace: 'billing', limits: { attempts: 1 }, ...options });
    return async (amount?: number) => {
      const body = amount === undefined ? null : JSON.stringify({ amount });
      return outcomeOf(await once.fetch(`http://127.0.0.1:${gateway}/`, { method, body, once: ['pay', 1] }).catch((error: unknown) => error));
    };
  };
  return { press, charges: () => charged.size };
}

const DONE: readonly [number, object] = [201, {}];
const OTHER: readonly [number, object] = [422, { title: 'The Idempotency-Key was used with another payload' }];

test('an answer that says only "key already used" is not taken for a refusal', async () => {
  const { press, charges } = await behindGateway(() => [422, { error: 'Idempotency-Key already used' }]);
  const pay = press({});
  for (const amount of [1, 1, 2]) expect(await pay(amount)).toMatchObject({ effect: 'unknown' });
  expect(charges()).toBe(1);
});

test('with a custom fetch, set up as in the guide, a refusal from in front of the server proves nothing, and the edited order is not charged a second time', async () => {
  const { press, charges } = await behindGateway((body, stored, requests) => (requests === 2 ? [401, {}] : body === stored ? DONE : OTHER));
  const pay = press({ fetch: (...call) => fetch(...call) });
  expect(await pay(1)).toMatchObject({ effect: 'unknown', reason: 'refused' });
  expect(await pay(2)).toMatchObject({ effect: 'done' });
  expect(charges()).toBe(1);
});

test.each([
  ['PUT', 1, {}],
  ['PUT', 1, { use: [around((_, send) => send())] }],
  ['DELETE', undefined, {}],
  ['POST', undefined, {}],
] as const)('what gateways resend by themselves is not reported as none after a refusal of the second copy: %s of %s, %j', async (method, amount, options) => {
  const { press, charges } = await behindGateway((_body, _stored, requests) => (requests === 2 ? [404, {}] : DONE));
  const put = press(options, method);
  expect(await put(amount)).toMatchObject({ effect: 'unknown', reason: 'refused' });
  expect(await put(amount)).toMatchObject({ effect: 'done' });
  expect(charges()).toBe(1);
});
