/**
 * Goal: for calls without a name, neither the server nor the caller can tell `once.fetch` from `fetch`, bare or under another
 * client. The only difference is that oncefetch sends a failed GET again. Method: makes each call over both against a real
 * server, and compares all that arrived and all that came back.
 */
import { createHash } from 'node:crypto';
import ky from 'ky';
import { createFetch } from 'ofetch';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createOnce, memoryStore, type OnceRequestInit, outcomeOf } from '../../src/entries/node.js';
import { type Arrival, type Echo, HELLO, LARGE_BYTES, openEcho } from './support/echo.js';

type Fetch = (input: RequestInfo | URL, init?: OnceRequestInit & { duplex?: 'half' }) => Promise<Response>;

/** Each entry wraps a fetch into a client. The client does not retry by itself. */
const clients: Record<string, (fetch: Fetch) => Fetch> = {
  bare: (fetch) => fetch,
  ky: (fetch) => (input, init) =>
    ky(input, { ...init, fetch: fetch as typeof globalThis.fetch, retry: 0, timeout: false, throwHttpErrors: false } as Parameters<typeof ky>[1]),
  ofetch: (fetch) => (input, init) =>
    createFetch({ fetch: fetch as typeof globalThis.fetch }).raw(input as string, {
      ...(init as object),
      retry: 0,
      ignoreResponseError: true,
      responseType: 'stream',
    }),
};

let echo: Echo;
beforeAll(async () => void (echo = await openEcho()));
afterAll(() => echo.close());
beforeEach(() => void echo.arrivals.splice(0));

const plain: Fetch = (input, init) => {
  if (!init) return fetch(input);
  const { once: _, ...rest } = init;
  return fetch(input, rest);
};
const onceFetch = (attempts = 5): Fetch =>
  createOnce({ namespace: 'ann', store: memoryStore(), retry: { minDelayMs: 1, maxDelayMs: 2 }, limits: { attempts } }).fetch;

/** What a caller can see of an error and of its causes. */
function told(error: unknown, depth = 4): unknown {
  if (!(error instanceof Error) || depth === 0) return error instanceof Error ? error.message : error;
  const { name, message, cause } = error;
  expect(outcomeOf(error)).toBeUndefined();
  return { class: error.constructor.name, name, message, code: (error as { code?: unknown }).code, cause: told(cause, depth - 1) };
}

/** All that a caller can see of an answer. */
async function seen(answer: Response): Promise<object> {
  const { status, statusText, ok, type, url, redirected, bodyUsed } = answer;
  expect(answer).toBeInstanceOf(Response);
  expect(outcomeOf(answer)).toBeUndefined();
  // The `date` header differs from call to call.
  const headers = [...answer.headers].filter(([name]) => name !== 'date');
  const fields = { status, statusText, ok, type, url, redirected, bodyUsed, headers };
  const copy = answer.clone();
  const [bytes, again] = await Promise.all([answer.arrayBuffer(), copy.arrayBuffer()]);
  expect(Buffer.compare(Buffer.from(bytes), Buffer.from(again))).toBe(0);
  return { ...fields, used: answer.bodyUsed, bytes: createHash('sha256').update(Buffer.from(bytes)).digest('hex') };
}

interface Observed {
  readonly end: unknown;
  readonly arrivals: readonly Arrival[];
}

type Work = (fetch: Fetch) => Promise<unknown>;

async function observe(work: Work, fetch: Fetch): Promise<Observed> {
  const end = await work(fetch).then(
    (given) => ({ given }),
    (error: unknown) => ({ rejected: told(error) }),
  );
  return { end, arrivals: echo.arrivals.splice(0) };
}

const bytes = (n: number): Uint8Array<ArrayBuffer> => new Uint8Array(n).fill(5);
const stream = (chunks: number, size: number): ReadableStream =>
  new ReadableStream({
    pull(controller) {
      if (chunks-- > 0) controller.enqueue(bytes(size));
      else controller.close();
    },
  });
const upload = (body: unknown): OnceRequestInit & { duplex: 'half' } => ({ method: 'POST', body: body as BodyInit, duplex: 'half' });
const integrityOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
const get =
  (path: string, init?: Parameters<Fetch>[1]): Work =>
  async (fetch) =>
    seen(await (init ? fetch(echo.at(path), init) : fetch(echo.at(path))));

const answers: Record<string, Work> = {
  'a GET': get('hello'),
  'a GET with a query and a fragment': get('hello?a=1&b=%20&b=#here'),
  'a URL object': async (fetch) => seen(await fetch(new URL(echo.at('hello')))),
  'its own headers': get('told', { headers: { Accept: 'text/x', 'X-Own': '1', Authorization: 'Bearer t' } }),
  'a Headers object': get('told', {
    headers: new Headers([
      ['x-a', '1'],
      ['x-a', '2'],
    ]),
  }),
  JSON: get('json'),
  'no content': get('nothing'),
  'a refusal': get('missing'),
  'two cookies': async (fetch) => (await fetch(echo.at('cookies'))).headers.getSetCookie(),
  'a HEAD': get('hello', { method: 'HEAD' }),
  'a DELETE': get('told', { method: 'DELETE' }),
  'a PUT with text': get('told', { method: 'PUT', body: 'text' }),
  'a PUT with a stream': async (fetch) => seen(await fetch(echo.at('told'), { ...upload(stream(30, 100_000)), method: 'PUT' })),
  OPTIONS: get('told', { method: 'OPTIONS' }),
  'a large answer': get('large'),
  'a data: address': async (fetch) => seen(await fetch('data:text/plain;x=1,hello')),
  'a blob: address': async (fetch) => {
    const url = URL.createObjectURL(new Blob(['hello'], { type: 'text/x' }));
    const answer = await fetch(url);
    return [answer.status, answer.type, answer.url === url, [...answer.headers], await answer.text()];
  },
  ...Object.fromEntries((['follow', 'manual'] as const).map((redirect) => [`redirect: ${redirect}`, get('moved', { redirect })])),
  'a redirect that keeps a PUT': get('kept', { method: 'PUT', body: 'text' }),
  'a redirect that makes a GET of a PUT': get('other', { method: 'PUT', body: 'text' }),
  ...Object.fromEntries((['omit', 'same-origin', 'include'] as const).map((credentials) => [`credentials: ${credentials}`, get('told', { credentials })])),
  ...Object.fromEntries(
    (['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'] as const).map((cache) => [
      `cache: ${cache}`,
      get('told', { cache, ...(cache === 'only-if-cached' && { mode: 'same-origin' as const }) }),
    ]),
  ),
  'mode: no-cors': get('hello', { mode: 'no-cors' }),
  keepalive: get('told', { keepalive: true }),
  'a referrer': get('told', { referrer: 'http://127.0.0.1/from', referrerPolicy: 'unsafe-url' }),
  'a digest that matches': get('hello', { integrity: integrityOf(HELLO) }),
};

/** `once: false` keeps the key off text, bytes and files. A stream never gets a key. */
const uploads: Record<string, Work> = {
  text: get('told', { method: 'POST', body: '{"a":1}', once: false }),
  bytes: get('told', { method: 'POST', body: bytes(100_000), once: false }),
  'a Blob': get('told', { method: 'POST', body: new Blob(['x'], { type: 'text/x' }), once: false }),
  URLSearchParams: get('told', { method: 'PATCH', body: new URLSearchParams({ a: '1' }), once: false }),
  'a stream': async (fetch) => seen(await fetch(echo.at('told'), { ...upload(stream(30, 100_000)), once: false })),
  'a stream that fails': async (fetch) =>
    fetch(echo.at('told'), { ...upload(new ReadableStream({ pull: (controller) => controller.error(new RangeError('mine')) })), once: false }),
};

const streams: Record<string, Work> = {
  'that ends by a cancel after its first chunk': async (fetch) => {
    const reader = (await fetch(echo.at('events'))).body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return [new TextDecoder().decode(first?.value), first?.done, (await reader?.read())?.done];
  },
  'in several chunks, with a content-length': async (fetch) => {
    const answer = await fetch(echo.at('large'));
    let [total, parts] = [0, 0];
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) [total, parts] = [total + chunk.byteLength, parts + 1];
    return [answer.headers.get('content-length'), total === LARGE_BYTES, parts > 1];
  },
  'that the server cuts off': get('cut'),
  'that an abort cuts off': async (fetch) => {
    const controller = new AbortController();
    const reader = (await fetch(echo.at('events'), { signal: controller.signal })).body?.getReader();
    await reader?.read();
    controller.abort(new RangeError('mine'));
    await reader?.read();
  },
};

/** Aborts the call with a timeout error as soon as its request has arrived. */
const whileItWaits =
  (asks: (fetch: Fetch, signal: AbortSignal) => Promise<Response>): Work =>
  async (fetch) => {
    const controller = new AbortController();
    const [end] = await Promise.allSettled([
      asks(fetch, controller.signal),
      expect
        .poll(() => echo.arrivals.length, { interval: 5 })
        .toBe(1)
        .then(() => controller.abort(new DOMException('late', 'TimeoutError'))),
    ]);
    return end.status === 'rejected' ? Promise.reject(end.reason) : end.value;
  };

const rejections: Record<string, Work> = {
  'an abort before the call': get('hello', { signal: AbortSignal.abort(new RangeError('mine')) }),
  'an abort before the call, without a reason': get('hello', { signal: AbortSignal.abort() }),
  'an abort while the call waits': whileItWaits((fetch, signal) => fetch(echo.at('never'), { signal })),
  'an abort after the answer': async (fetch) => {
    const controller = new AbortController();
    const end = await seen(await fetch(echo.at('hello'), { signal: controller.signal }));
    controller.abort();
    return end;
  },
  'a wrong address': async (fetch) => fetch('http://['),
  'a relative address': async (fetch) => fetch('nowhere'),
  'an unknown scheme': async (fetch) => fetch('nowhere:x'),
  'a password in the address': async (fetch) => fetch(echo.at('hello').replace('//', '//a:b@')),
  'a GET with a body': get('told', { body: 'x' }),
  'a forbidden method': get('told', { method: 'TRACE' }),
  'a wrong header': get('told', { headers: { 'not a name': '1' } }),
  'a wrong option': get('told', { redirect: 'elsewhere' as RequestRedirect }),
};

/** Results that oncefetch takes for a network failure, because all rejections of fetch look alike. */
const failures: Record<string, Work> = {
  'a server that is busy': get('busy'),
  'an answer that is lost': get('lost'),
  'a redirect with redirect: error': get('moved', { redirect: 'error' }),
  'a circle of redirects': get('circle'),
  'a digest that does not match': get('hello', { integrity: integrityOf('another') }),
};

describe.each(Object.entries(clients))('%s', (_, through) => {
  const compared = async (work: Work, attempts?: number): Promise<Observed> => {
    const expected = await observe(work, through(plain));
    const ours = await observe(work, through(onceFetch(attempts)));
    expect(ours).toEqual(expected);
    return ours;
  };

  test.each(Object.entries(answers))('%s: the answer is the same', async (_, work) => void (await compared(work)));
  test.each(Object.entries(uploads))('an upload of %s: the answer is the same', async (_, work) => void (await compared(work)));
  test.each(Object.entries(streams))('an answer %s: the caller sees the same', async (_, work) => void (await compared(work)));
  test.each(Object.entries(rejections))('%s: the result is the same', async (_, work) => void (await compared(work, 1)));

  test.each(Object.entries(failures))('%s: with one attempt, the result is the same', async (_, work) => void (await compared(work, 1)));

  test.each(Object.entries(failures))(
    '%s: oncefetch sends it again up to the limit of attempts and gives the last end; nothing else differs',
    async (_, work) => {
      const expected = await observe(work, through(plain));
      const ours = await observe(work, through(onceFetch(3)));
      expect(ours).toEqual({ end: expected.end, arrivals: [1, 2, 3].flatMap(() => expected.arrivals) });
    },
  );
});

describe('arguments that only a bare fetch takes', () => {
  const works: Record<string, Work> = {
    'a Request': async (fetch) => seen(await fetch(new Request(echo.at('told'), { headers: { 'x-own': '1' }, cache: 'no-store' }))),
    'a Request with options over it': async (fetch) =>
      seen(await fetch(new Request(echo.at('told'), { headers: { 'x-own': '1' } }), { headers: { 'x-own': '2' } })),
    'a clone of a Request': async (fetch) => {
      const request = new Request(echo.at('told'), { method: 'PUT', body: 'text' });
      return [await seen(await fetch(request.clone())), await seen(await fetch(request)), request.bodyUsed];
    },
    'a Request whose body was read': async (fetch) => {
      const request = new Request(echo.at('told'), { method: 'POST', body: 'text' });
      await request.text();
      return fetch(request);
    },
    'a Request that is aborted': whileItWaits((fetch, signal) => fetch(new Request(echo.at('never'), { signal }))),
    'a custom method': get('told', { method: 'PROPFIND' }),
    'a POST with a stream, without the option once': async (fetch) => seen(await fetch(echo.at('told'), upload(stream(30, 100_000)))),
    'a POST with an async iterable, without the option once': async (fetch) =>
      seen(
        await fetch(
          echo.at('told'),
          upload(
            (async function* () {
              yield bytes(10);
            })(),
          ),
        ),
      ),
    'a stream without duplex': async (fetch) => fetch(echo.at('told'), { method: 'POST', body: stream(1, 1) }),
    'a stream that is redirected': async (fetch) => fetch(echo.at('kept'), upload(stream(1, 1))),
    'a POST in mode no-cors': get('told', { method: 'POST', body: 'x', mode: 'no-cors' }),
    'a POST to data:': async (fetch) => seen(await fetch('data:text/plain,hello', { method: 'POST', body: 'x' })),
    'a POST to an unknown scheme': async (fetch) => fetch('nowhere:x', { method: 'POST', body: 'x' }),
    'a POST to a relative address': async (fetch) => fetch('nowhere', { method: 'POST', body: 'x' }),
    'a query in GraphQL': get('told', { method: 'POST', body: '{"query":"query { a }"}' }),
    'options that are null': async (fetch) => seen(await fetch(echo.at('told'), null as unknown as undefined)),
    'no address at all': async (fetch) => (fetch as () => Promise<unknown>)(),
  };

  test.each(Object.entries(works))('%s: the result is the same', async (_, work) => {
    const expected = await observe(work, plain);
    expect(await observe(work, onceFetch())).toEqual(expected);
  });
});
