/**
 * Goal: for calls without an operation, `once.fetch` behaves like `fetch`: same answers, same requests on the wire,
 * same rejections, and no access to a store or lock. Method: makes each call with both, against a real server, and
 * compares everything observable.
 */
import ky from 'ky';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createOnce, outcomeOf, unnamed } from '../../../src/entries/index.js';
import { Shop } from '../support/shop.js';

/** Half the size of a large answer, bytes. */
const HALF = 1_500_000;

type Fetch = (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>;

const once = createOnce({ use: [unnamed()], namespace: 'nobody', retry: { minDelayMs: 1, maxDelayMs: 2 } });
const both = { fetch: (input, init) => fetch(input, init), 'once.fetch': once.fetch } satisfies Record<string, Fetch>;

// The server sets a cookie. Without this request, only the second of two compared requests would carry it.
beforeAll(() => fetch(new Shop().at('echo')));
afterEach(() => vi.restoreAllMocks());

/** Everything a caller can see of an error and its causes. */
function told(error: unknown): object {
  if (!(error instanceof Error)) return { rejected: error };
  expect(outcomeOf(error)).toBeUndefined();
  return { rejected: error.name, class: error.constructor.name, message: error.message, ...(error.cause !== undefined && { cause: told(error.cause) }) };
}

const blob = URL.createObjectURL(new Blob(['hello'], { type: 'text/x' }));

/** Makes the call with both fetches, each at its own shop, and compares the results without the shops' URLs. */
async function compared<T>(work: (fetch: Fetch, shop: Shop) => Promise<T>): Promise<T> {
  const open = vi.spyOn(IDBFactory.prototype, 'open');
  const lock = navigator.locks && vi.spyOn(LockManager.prototype, 'request');
  const [plain, ours] = await Promise.all(
    Object.values(both).map(async (one) => {
      const shop = new Shop();
      const end = await work(one, shop).catch((error: unknown) => told(error));
      return JSON.parse((JSON.stringify(end) ?? 'null').replaceAll(shop.at(''), '/'));
    }),
  );
  expect(ours).toEqual(plain);
  expect([open.mock.calls.length, lock?.mock.calls.length ?? 0], 'stores opened, locks taken').toEqual([0, 0]);
  return ours;
}

/** Everything a caller can see of an answer. */
async function seen(answer: Response): Promise<object> {
  const { status, statusText, ok, type, url, redirected, bodyUsed } = answer;
  expect(answer).toBeInstanceOf(Response);
  expect(outcomeOf(answer)).toBeUndefined();
  // The date is different in each answer.
  const headers = [...answer.headers].filter(([name]) => name !== 'date');
  const copy = await answer.clone().text();
  const text = await answer.text();
  expect(copy).toBe(text);
  return { status, statusText, ok, type, url, redirected, bodyUsed, headers, used: answer.bodyUsed, text };
}

describe('an answer', () => {
  test.each(['echo', 'cached', 'nothing', 'missing', 'moved'])('of /%s', async (path) => {
    await compared(async (fetch, shop) => seen(await fetch(shop.at(path))));
  });

  test.each<[string, (shop: Shop) => [RequestInfo | URL, RequestInit?]]>([
    ['a URL', (shop) => [new URL(shop.at('echo'))]],
    ['a Request', (shop) => [new Request(shop.at('echo'), { headers: { 'x-own': '1' }, credentials: 'omit', cache: 'no-store' })]],
    ['a Request with options over it', (shop) => [new Request(shop.at('echo'), { headers: { 'x-own': '1' } }), { headers: { 'x-own': '2' }, referrer: '' }]],
    ['a method in lower case', (shop) => [shop.at('echo'), { method: 'head' }]],
    ['OPTIONS', (shop) => [shop.at('echo'), { method: 'OPTIONS' }]],
    ['a fragment', (shop) => [`${shop.at('echo')}#here`]],
    [
      'headers as pairs',
      (shop) => [
        shop.at('echo'),
        {
          headers: [
            ['x-a', '1'],
            ['x-a', '2'],
          ],
        },
      ],
    ],
    ['a POST with once: false', (shop) => [shop.at('echo'), { method: 'POST', body: '{"a":1}', once: false } as RequestInit]],
    ['a form with once: false', (shop) => [shop.at('echo'), { method: 'POST', body: new URLSearchParams({ a: '1' }), once: false } as RequestInit]],
    ['a data: address', () => ['data:text/plain,hello']],
    ['a blob: address', () => [blob]],
    ['a POST to a data: address', () => ['data:text/plain,hello', { method: 'POST', body: 'x' }]],
    ['a POST to a blob: address', () => [blob, { method: 'POST', body: 'x' }]],
    ['a POST in mode no-cors', (shop) => [shop.at('echo'), { method: 'POST', body: 'x', mode: 'no-cors' }]],
    ['a PUT', (shop) => [shop.at('echo'), { method: 'PUT', body: new Blob(['x'], { type: 'text/x' }) }]],
    ['a DELETE', (shop) => [shop.at('echo'), { method: 'DELETE' }]],
    ['keepalive', (shop) => [shop.at('echo'), { keepalive: true }]],
    ['a referrer', (shop) => [shop.at('echo'), { referrer: '/site/empty.html', referrerPolicy: 'unsafe-url' }]],
    ['a clone of a Request', (shop) => [new Request(shop.at('echo'), { method: 'PUT', body: 'text' }).clone()]],
    ['options that are null', (shop) => [shop.at('echo'), null as unknown as RequestInit]],
  ])('to %s', async (_, asks) => {
    await compared(async (fetch, shop) => {
      const { once: _, ...init } = (asks(shop)[1] ?? {}) as RequestInit & { once?: false };
      return seen(await fetch(asks(shop)[0], fetch === once.fetch ? asks(shop)[1] : init));
    });
  });
});

test.each(['follow', 'manual', 'error'] as const)('redirects: %s', async (redirect) => {
  const told = await compared(async (fetch, shop) => seen(await fetch(shop.at('moved'), { redirect })));
  expect(told).toMatchObject({ follow: { redirected: true }, manual: { type: 'opaqueredirect' }, error: { rejected: 'TypeError' } }[redirect]);
});

test.each(['omit', 'same-origin', 'include'] as const)('credentials: %s', async (credentials) => {
  await fetch(new Shop().at('echo'));
  const told = await compared(async (fetch, shop) => ((await (await fetch(shop.at('echo'), { credentials })).json()) as { headers: object }).headers);
  expect('cookie' in told).toBe(credentials !== 'omit');
});

test.each(['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'] as const)('cache: %s', async (cache) => {
  await compared(async (fetch, shop) => {
    const read = async (how: RequestCache) => (await fetch(shop.at('cached'), { cache: how, ...(how === 'only-if-cached' && { mode: 'same-origin' }) })).text();
    return [await read('default'), await read(cache), await read(cache), await read('default')];
  });
});

test.each([{}, { method: 'POST', body: 'x' }])('an opaque answer of another origin stays opaque: %j', async (init) => {
  const abroad = await (await fetch('/site/abroad')).text();
  const told = await compared(async (fetch, shop) =>
    seen(await fetch(shop.at('echo').replace(location.origin, `${abroad}/simple`), { ...init, mode: 'no-cors' })),
  );
  expect(told).toMatchObject({ type: 'opaque', status: 0, text: '' });
});

describe('a streamed answer', () => {
  test('resolves at its first chunk, and a cancel ends it', async () => {
    await compared(async (fetch, shop) => {
      const reader = (await fetch(shop.at('events'))).body?.getReader();
      const first = await reader?.read();
      await reader?.cancel();
      return [new TextDecoder().decode(first?.value), first?.done, (await reader?.read())?.done];
    });
  });

  test('can be read chunk by chunk as it arrives', async () => {
    const told = await compared(async (fetch, shop) => {
      const answer = await fetch(shop.at('halves'));
      let total = 0;
      const reader = answer.body?.getReader();
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
        total += chunk.value.byteLength;
        // The server sends the second half only now, after the first half was read.
        if (total === HALF) await fetch(shop.at('rest'));
      }
      return { total };
    });
    expect(told).toEqual({ total: 2 * HALF });
  });

  test('is cut off by an abort while it is read', async () => {
    await compared(async (fetch, shop) => {
      const controller = new AbortController();
      const reader = (await fetch(shop.at('events'), { signal: controller.signal })).body?.getReader();
      await reader?.read();
      controller.abort();
      await reader?.read();
    });
  });
});

describe('rejects as fetch does', () => {
  test.each<[string, (shop: Shop) => [RequestInfo | URL, RequestInit?]]>([
    ['a wrong address', () => ['http://']],
    ['an unknown scheme', () => ['nowhere:x']],
    ['a GET with a body', (shop) => [shop.at('echo'), { body: 'x' }]],
    ['a forbidden method', (shop) => [shop.at('echo'), { method: 'TRACE' }]],
    ['a wrong header', (shop) => [shop.at('echo'), { headers: { 'not a name': '1' } }]],
    ['an aborted signal', (shop) => [shop.at('echo'), { signal: AbortSignal.abort() }]],
    ['a digest that does not match', (shop) => [shop.at('echo'), { integrity: 'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' }]],
  ])('%s', async (_, asks) => {
    expect(await compared(async (fetch, shop) => seen(await fetch(...asks(shop))))).toMatchObject({ rejected: expect.stringMatching(/TypeError|AbortError/) });
  });

  test('does not throw, but returns a promise, like fetch', () => {
    const promise = once.fetch('http://');
    promise.catch(() => {});
    expect(promise).toBeInstanceOf(Promise);
  });
});

describe('through ky', () => {
  test.each(['echo', 'cached', 'nothing', 'missing', 'moved'])('/%s', async (path) => {
    await compared(async (fetch, shop) => seen(await ky(shop.at(path), { fetch: fetch as typeof globalThis.fetch, retry: 0 })));
  });

  test.each<RequestInit>([
    { redirect: 'manual' },
    { redirect: 'error' },
    { credentials: 'omit' },
    { cache: 'reload' },
    { method: 'HEAD' },
    { signal: AbortSignal.abort() },
  ])('%j', async (init) => {
    await compared(async (fetch, shop) =>
      seen(await ky(shop.at('moved'), { ...init, fetch: fetch as typeof globalThis.fetch, retry: 0, throwHttpErrors: false } as Parameters<typeof ky>[1])),
    );
  });

  test('reports the progress of a download', async () => {
    const told = await compared(async (fetch, shop) => {
      const heard: number[] = [];
      await ky(shop.at('large'), {
        fetch: fetch as typeof globalThis.fetch,
        onDownloadProgress: ({ transferredBytes }) => heard.push(transferredBytes),
      }).blob();
      return [heard.at(-1), heard.every((now, n) => now >= (heard[n - 1] ?? 0))];
    });
    expect(told).toEqual([3_000_000, true]);
  });
});
