/**
 * Goal: oncefetch concludes from a refused connection that nothing was sent, but only if no layer below it resends
 * requests by itself. Method: Node's own fetch over real sockets, with each way in which an app can make it resend, and
 * a server that takes a charge, breaks the connection and stops listening.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOnce, type Outcome, outcomeOf } from 'oncefetch';
import {
  Agent,
  type Dispatcher,
  Dispatcher1Wrapper,
  EnvHttpProxyAgent,
  getGlobalDispatcher,
  interceptors,
  RetryAgent,
  type RetryHandler,
  setGlobalDispatcher,
  fetch as undiciFetch,
} from 'undici';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { browserPlatform } from '../../src/platform/browser/index.js';
import { sendsOnce } from '../../src/platform/node/dispatcher.js';
import { nodePlatform } from '../../src/platform/node/index.js';
import { reactNativePlatform } from '../../src/platform/react-native/index.js';
import { memoryStore } from '../../src/stores/memory.js';

/** Where Node's own fetch looks for its dispatcher. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const realm = globalThis as unknown as Record<symbol, unknown>;
const own = { fetch: globalThis.fetch, latest: getGlobalDispatcher(), legacy: realm[DISPATCHER] };

afterEach(() => {
  setGlobalDispatcher(own.latest);
  realm[DISPATCHER] = own.legacy;
  globalThis.fetch = own.fetch;
});

/** A server that executes one request, answers nothing, and stops listening. */
async function chargesAndDies(): Promise<{ readonly url: string; readonly charges: () => number }> {
  let charges = 0;
  const server = createServer((request) => {
    charges++;
    server.close();
    request.socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, charges: () => charges };
}

/** An address where nobody listens. */
async function nobody(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}/`;
}

async function charge(url: string, { fetch, ...more }: RequestInit & { fetch?: typeof globalThis.fetch } = {}): Promise<Outcome | undefined> {
  const once = createOnce({ store: memoryStore(), limits: { attempts: 1 }, fetch });
  const call = once.fetch(url, { method: 'POST', body: '{}', redirect: 'manual', ...more, once: ['pay', 1] });
  return outcomeOf(await call.catch((error: unknown) => error));
}

const RETRY: RetryHandler.RetryOptions = { maxRetries: 1, minTimeout: 10, methods: ['POST'] };
const retrying = () => new RetryAgent(new Agent(), RETRY);
const UNSENT = { type: 'unsent', effect: 'none', reason: 'unreachable' };
const UNKNOWN = { type: 'unknown', effect: 'unknown', reason: 'no-answer' };

describe('a charge whose connection broke is not "unsent" because a copy of it was refused', () => {
  const twice: typeof globalThis.fetch = (...call) => own.fetch(...call).catch(() => own.fetch(...call));

  test.each<[string, Dispatcher]>([
    ["undici's RetryAgent", retrying()],
    ['an interceptor that retries', new Agent().compose(interceptors.retry(RETRY))],
    ['an Agent whose factory makes clients that retry', new Agent({ factory: retrying })],
  ])('%s as the dispatcher of all requests', async (_, dispatcher) => {
    setGlobalDispatcher(dispatcher);
    const { url, charges } = await chargesAndDies();
    expect(await charge(url)).toMatchObject(UNKNOWN);
    expect(charges()).toBe(1);
  });

  test('a global fetch that retries', async () => {
    globalThis.fetch = twice;
    const { url } = await chargesAndDies();
    expect(await charge(url)).toMatchObject(UNKNOWN);
  });

  test.each<[string, Parameters<typeof charge>[1]]>([
    ['a dispatcher in init', { dispatcher: new Dispatcher1Wrapper(retrying()) } as RequestInit],
    ["a client's own fetch that retries", { fetch: twice }],
    ["undici's own fetch", { fetch: ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher: retrying() })) as never }],
  ])('%s', async (_, more) => {
    const { url, charges } = await chargesAndDies();
    expect(await charge(url, more)).toMatchObject(UNKNOWN);
    expect(charges()).toBe(1);
  });
});

describe("Node's own fetch", () => {
  test('reports unsent if the connection was refused', async () => expect(await charge(await nobody())).toMatchObject(UNSENT));

  test('reports unsent if the connection was refused, even with a plain Agent of an undici that the app has installed', async () => {
    setGlobalDispatcher(new Agent({ connect: { timeout: 1000 } }));
    expect(await charge(await nobody())).toMatchObject(UNSENT);
  });

  test('reports unknown if the connection breaks', async () => {
    const { url } = await chargesAndDies();
    expect(await charge(url)).toMatchObject(UNKNOWN);
  });

  test('does not conclude that nothing was sent if the dispatcher changed during the request', async () => {
    const transport = nodePlatform().transport(undefined);
    const init: RequestInit = { method: 'POST', redirect: 'manual' };
    setGlobalDispatcher(retrying());
    const error: unknown = await transport.send(await nobody(), init).catch((cause: unknown) => cause);
    setGlobalDispatcher(own.latest);
    realm[DISPATCHER] = own.legacy;
    expect(transport.neverSent(error, init)).toBe(false);
    expect(transport.neverSent(error, { ...init })).toBe(true);
  });
});

describe('whether a platform may send again', () => {
  const mayResend = (more: RequestInit = {}) => !sendsOnce(more);

  test("Node's own fetch may not, unless the app gives it another dispatcher or calls that dispatcher itself", () => {
    expect(mayResend()).toBe(false);
    expect(mayResend({ dispatcher: new Agent() } as RequestInit)).toBe(true);
    expect(nodePlatform().transport(fetch).mayResend({})).toBe(true);
    for (const [options, body, resends] of [
      [{ allowH2: true }, '{}', false],
      // Undici 8 resends a request without a body if a gateway says that its server has not executed it.
      [{ allowH2: true }, null, true],
      [{ pipelining: 10 }, null, false],
      // Undici 6 resends each of several requests that share an HTTP/2 connection.
      [{ allowH2: true, pipelining: 10 }, '{}', true],
    ] as const) {
      setGlobalDispatcher(new Agent(options));
      expect(mayResend({ body }), JSON.stringify(options)).toBe(resends);
    }
    setGlobalDispatcher(new EnvHttpProxyAgent({ httpProxy: 'http://127.0.0.1:9' }));
    expect(mayResend()).toBe(true);
    for (const odd of [{ dispatch: () => true }, Object.create(null), 'odd', () => {}]) {
      realm[DISPATCHER] = odd;
      expect(mayResend()).toBe(true);
    }
    realm[DISPATCHER] = new (class Agent2 extends Agent {})();
    expect(mayResend()).toBe(true);
  });

  // Node 26 has undici 8.
  test.each([
    ['7.29.1', undefined, null, false],
    ['8.10.2', undefined, '{}', false],
    ['8.10.2', undefined, null, true],
    ['8.10.2', { allowH2: false }, null, false],
  ])("Node's own fetch of undici %s, with an agent of %j and the body %j: %s", (undici, options, body, resends) => {
    if (options) setGlobalDispatcher(new Agent(options));
    vi.stubGlobal('process', { ...process, versions: { ...process.versions, undici } });
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(mayResend({ body })).toBe(resends);
  });

  test.each([
    ['POST', '{}', false],
    ['patch', '{}', false],
    ['POST', null, true],
    ['PATCH', '', true],
    ['PUT', '{}', true],
    ['DELETE', null, true],
    ['GET', null, true],
  ])('on the way from Node, a gateway may send a %s with the body %j again: %s', (method, body, resends) => {
    const transport = nodePlatform().transport(undefined);
    expect(transport.mayResend({ method, body }, 'Idempotency-Key')).toBe(resends);
    expect(transport.mayResend({ method, body }, '')).toBe(false);
    // If nobody listens on the port, no gateway does either.
    const refused = new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    expect(transport.neverSent(refused, { method, body, redirect: 'manual' })).toBe(true);
  });

  test('browsers and React Native may', () => {
    expect(browserPlatform().transport(undefined).mayResend({})).toBe(true);
    expect(reactNativePlatform(nodePlatform().connectivity).transport(undefined).mayResend({})).toBe(true);
  });
});
