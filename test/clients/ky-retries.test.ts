/** Goal: retries of ky and of oncefetch never multiply, and no request loses its retries. Method: a gateway answers 503, and the test counts requests. */
import ky, { type KyInstance, type RetryOptions } from 'ky';
import ky1 from 'ky-1';
import { describe, expect, test, vi } from 'vitest';
import { createOnce, memoryStore, type OnceOptions, outcomeOf, retrying, unnamed } from '../../src/entries/index.js';
import { type OnceKyInstance, withOnce } from '../../src/entries/ky.js';

/** ky over a server that answers 503 once, with the methods of the requests that reached it. */
function busyOnce(use: OnceOptions['use']) {
  const sent: string[] = [];
  const fetch = async (input: Request | string, init?: RequestInit) => {
    sent.push(new Request(input, init).method);
    return new Response('{}', { status: sent.length === 1 ? 503 : 200 });
  };
  const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: fetch as typeof globalThis.fetch, retry: { minDelayMs: 1, maxDelayMs: 2 }, use });
  return { sent, api: withOnce(ky, once) };
}

test.each([
  ['by oncefetch if the client has retrying()', [retrying()]],
  ['by ky if the client has no retrying()', []],
] as const)('a GET is sent again once, %s', async (_, use) => {
  const { sent, api } = busyOnce(use);
  expect((await api.get('https://shop.example/orders')).status).toBe(200);
  expect(sent).toHaveLength(2);
});

test.each([
  ['with retrying()', [retrying()]],
  ['without retrying()', []],
] as const)('a named POST is sent again by oncefetch alone, %s', async (_, use) => {
  const { sent, api } = busyOnce(use);
  expect((await api.post('https://shop.example/pay', { json: { cart: 1 }, once: ['pay', 1] })).status).toBe(200);
  expect(sent).toEqual(['POST', 'POST']);
});

const CART = { json: { cart: 1 } };
const AGAIN = { methods: ['post', 'get'], statusCodes: [503], limit: 2, delay: () => 1 } satisfies RetryOptions;

describe.each([
  ['with retrying()', [retrying(), unnamed()]],
  ['without retrying()', [unnamed()]],
] as const)('ky leaves a POST to oncefetch, although it is told to retry it, %s', (_, use) => {
  test.each<[string, (given: (base: KyInstance) => OnceKyInstance) => Promise<unknown>]>([
    ['by an option of the instance', (given) => given(ky.create({ retry: AGAIN })).post('https://shop.example/pay', CART)],
    ['by extend()', (given) => given(ky).extend({ retry: AGAIN }).post('https://shop.example/pay', CART)],
    [
      'by an init hook',
      (given) =>
        given(ky)
          .extend({ hooks: { init: [(options) => Object.assign(options, { retry: AGAIN })] } })
          .post('https://shop.example/pay', CART),
    ],
    [
      'by an init hook that adds to the methods',
      (given) =>
        given(ky.create({ retry: { ...AGAIN, methods: ['get'] } }))
          .extend({ hooks: { init: [({ retry }) => void (retry as { methods: string[] }).methods.push('post')] } })
          .post('https://shop.example/pay', CART),
    ],
    ['by an option of the call', (given) => given(ky).post('https://shop.example/pay', { ...CART, retry: AGAIN })],
  ])('%s', async (_, call) => {
    const keys = new Set<string | null>();
    const fetch = async (input: Request | string, init?: RequestInit) => {
      keys.add(new Request(input, init).headers.get('idempotency-key'));
      return new Response('{}', { status: 503 });
    };
    const retry = { minDelayMs: 1, maxDelayMs: 2 };
    const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: fetch as typeof globalThis.fetch, retry, limits: { attempts: 2 }, use });
    await expect(call((base) => withOnce(base, once))).rejects.toMatchObject({ response: { status: 503 } });
    expect(keys.size).toBe(1);
  });
});

test('keeps the limit of retries of the ky instance for a GET', async () => {
  for (const retry of [1, { limit: 1, delay: () => 1 }]) {
    let requests = 0;
    const fetch = async () => {
      requests++;
      return new Response('{}', { status: 503 });
    };
    const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: fetch as typeof globalThis.fetch });
    await expect(withOnce(ky.create({ retry }), once).get('https://shop.example/orders')).rejects.toMatchObject({ response: { status: 503 } });
    expect(requests).toBe(2);
  }
});

test('totalTimeout of the ky instance does not cut off a named POST', async () => {
  const fetch = () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response('{}')), 60));
  const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: fetch as typeof globalThis.fetch });
  const api = withOnce(ky.create({ totalTimeout: 20 }), once);
  expect((await api.post('https://shop.example/pay', { json: { cart: 2 }, once: ['pay', 2] })).status).toBe(200);
});

test("a timeout of the call ends it with ky's TimeoutError, whose outcome is unknown", async () => {
  const fetch = (_: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: fetch as typeof globalThis.fetch });
  const effect = await withOnce(ky, once)
    .post('https://shop.example/pay', { json: {}, once: ['pay', 4], timeout: 20 })
    .catch((error: unknown) => [(error as Error).name, outcomeOf(error)?.effect]);
  expect(effect).toEqual(['TimeoutError', 'unknown']);
});

test('ky sends a PUT once, because it cannot tell whether the PUT has a name', async () => {
  const { sent, api } = busyOnce([]);
  await expect(api.put('https://shop.example/orders/1', { json: {} })).rejects.toMatchObject({ response: { status: 503 } });
  expect(sent).toEqual(['PUT']);
});

test.each([
  [
    'as an option of the call',
    (api: OnceKyInstance, fetch: typeof globalThis.fetch) => api.post('https://shop.example/pay', { json: {}, once: ['pay', 3], ...{ fetch } }),
  ],
  ['as an option of extend()', (api, fetch) => api.extend({ fetch } as object).post('https://shop.example/pay', { json: {}, once: ['pay', 3] })],
  [
    'by an init hook',
    (api, fetch) =>
      api.extend({ hooks: { init: [(options) => Object.assign(options, { fetch })] } }).post('https://shop.example/pay', { json: {}, once: ['pay', 3] }),
  ],
  [
    'as an option of extend() given as a function',
    (api, fetch) => api.extend(() => ({ fetch }) as object).post('https://shop.example/pay', { json: {}, once: ['pay', 3] }),
  ],
] as [string, (api: OnceKyInstance, fetch: typeof globalThis.fetch) => unknown][])(
  'a named call with another fetch, %s, is rejected, because ky would drop the name',
  async (_, pay) => {
    const keys: (string | null)[] = [];
    const traced = async (input: RequestInfo | URL, init?: RequestInit) => {
      keys.push(new Request(input, init).headers.get('idempotency-key'));
      return new Response('{}');
    };
    const { api } = busyOnce([]);
    await expect((async () => pay(api, traced as typeof fetch))()).rejects.toThrow('the option fetch of ky would leave once out');
    expect(keys).toEqual([]);
  },
);

test('an init hook may return the options unchanged', async () => {
  const { api, sent } = busyOnce([]);
  const hooked = api.extend({ hooks: { init: [(options) => Object.assign(options, { ...options })] } });
  expect((await hooked.post('https://shop.example/pay', { json: {}, once: ['pay', 3] })).status).toBe(200);
  expect(sent).toEqual(['POST', 'POST']);
});

test('a call without a name may use another fetch', async () => {
  const { api } = busyOnce([]);
  const traced = async () => new Response('traced');
  expect(await api.get('https://shop.example/orders', { fetch: traced } as object).text()).toBe('traced');
});

/** A shop that loses its first answer, and the keys that reached it. */
function shop() {
  const keys: (string | null)[] = [];
  const fetch = async (input: Request | string, init?: RequestInit) => {
    keys.push(new Request(input, init).headers.get('idempotency-key'));
    if (keys.length === 1) throw new TypeError('Failed to fetch');
    return new Response('{}');
  };
  const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch: fetch as typeof globalThis.fetch, retry: { minDelayMs: 1, maxDelayMs: 2 } });
  return { keys, once };
}

test.each([undefined, null, { fetch }])('withOnce rejects a value that is no client, and says what it got: %o', (wrong) => {
  expect(() => withOnce(ky, wrong as never)).toThrow(TypeError);
  expect(() => withOnce(ky, wrong as never)).toThrow(`withOnce takes a client from createOnce, got ${wrong === null ? 'null' : typeof wrong}`);
});

test.each([undefined, null, 5, 'ky', {}])('withOnce rejects a value that is no ky, and says what it got: %o', (wrong) => {
  const { once } = shop();
  expect(() => withOnce(wrong as never, once)).toThrow(new TypeError(`once: withOnce takes ky, got ${wrong && typeof wrong}`));
});

test("withOnce refuses an instance with a fetch of its own, which no request would use any more; the client's own is no other one", () => {
  const { keys, once } = shop();
  const signed = (input: RequestInfo | URL, init?: RequestInit) => once.fetch(input, { ...init, headers: { 'x-signature': 's' } });
  expect(() => withOnce(ky.create({ fetch: signed }), once)).toThrow('the option fetch of ky would be left out');
  expect(() => withOnce(ky.extend({ fetch: signed }).extend({ timeout: false }), once)).toThrow(TypeError);
  expect(() => withOnce(ky.create({ fetch: once.fetch as typeof fetch }), once)).not.toThrow();
  expect(keys).toEqual([]);
});

test('withOnce over an instance that it has made for the same client changes nothing', async () => {
  const { keys, once } = shop();
  expect((await withOnce(withOnce(ky, once) as unknown as KyInstance, once).post('https://shop.example/pay', { ...CART, once: ['pay', 1] })).status).toBe(200);
  expect(keys).toEqual([expect.any(String), keys[0]]);
});

test('a client whose fetch is spied on after withOnce sends as before', async () => {
  const fetch = vi.fn(async () => new Response('{}'));
  const once = createOnce({ namespace: 'ann', store: memoryStore(), fetch });
  const api = withOnce(ky, once);
  vi.spyOn(once, 'fetch');
  expect((await api.post('https://shop.example/pay', { json: 1, once: ['pay', 1] })).status).toBe(200);
  expect(fetch).toHaveBeenCalledOnce();
});

describe('ky before 2, whose own retries no hook can turn off', () => {
  test('withOnce refuses it, and nothing is sent', async () => {
    const { keys, once } = shop();
    const api = withOnce(ky1.create({ retry: 0 }) as unknown as KyInstance, once);
    await expect(api.post('https://shop.example/pay', { ...CART, once: ['pay', 1] })).rejects.toThrow('withOnce needs ky 2 or later');
    expect(keys).toEqual([]);
  });

  test('takes once.fetch as its fetch, and passes the name on', async () => {
    const { keys, once } = shop();
    const options = { ...CART, fetch: once.fetch as typeof fetch, retry: 0, timeout: false as const, once: ['pay', 1] };
    expect(outcomeOf(await ky1.post('https://shop.example/pay', options))?.effect).toBe('done');
    expect(keys).toEqual([expect.any(String), keys[0]]);
  });
});
