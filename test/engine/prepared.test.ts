/**
 * Goal: a request is read as fetch would read it, keeps its bytes, and is identified by its content; what could not be sent is refused before anything is
 * stored. Method: tables of arguments and bodies, with Node's own classes.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { SCHEME } from '../../src/core/record.js';
import { askFingerprint } from '../../src/http/fingerprint-hook.js';
import { fingerprint, isRequest, prepare, type ReplayableRequest, readInput, UnreplayableBody, wireOf } from '../../src/http/request.js';
import { toStore } from '../../src/http/stored-request.js';
import type { OperationOptions } from '../../src/option-types.js';
import type { Settings } from '../../src/options.js';
import { resolveUrl } from '../../src/platform/shared.js';
import type { Platform } from '../../src/ports.js';
import { LEAN, says } from '../support/texts.js';

const URL_ = 'https://shop.example/pay';
const platform = { resolve: (url: string) => resolveUrl(url, 'https://shop.example/checkout') } as Platform;
const read = (input: RequestInfo | URL, init: RequestInit = {}) => readInput(input, init, platform);
const digest = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const ready = (body: unknown, headers: Record<string, string> = {}, limit = 100): Promise<ReplayableRequest> =>
  prepare({ ...read(URL_, { method: 'POST', headers }), body }, limit, digest);
const asText = async ({ body }: ReplayableRequest): Promise<string | undefined> => (body === undefined ? undefined : new Response(body).text());

/** A Blob of another implementation, such as that of node-fetch, which Node's own classes take for an object. */
const foreign = (text: string) => ({
  size: text.length,
  slice() {},
  arrayBuffer: async () => new TextEncoder().encode(text).buffer,
  [Symbol.toStringTag]: 'Blob',
});

describe('the arguments of fetch', () => {
  const signal = new AbortController().signal;
  const request = new Request(URL_, { method: 'PUT', body: 'x', headers: { a: 'b' }, credentials: 'omit', redirect: 'manual' });

  test('a URL, and the init beside it', () => {
    expect(read('pay#top')).toMatchObject({
      method: 'GET',
      url: URL_,
      origin: 'https://shop.example',
      body: undefined,
      rest: {},
      signal: undefined,
      request: undefined,
    });
    const given = read(new URL(URL_), { method: 'post', body: 'x', headers: { a: 'b' }, signal, keepalive: true });
    expect(given).toMatchObject({ method: 'POST', url: URL_, body: 'x', signal });
    expect(given.rest).toEqual({ keepalive: true });
    expect(given.headers.get('a')).toBe('b');
  });

  test('a Request, and an init that overrides it', () => {
    const plain = read(request);
    expect(plain).toMatchObject({ method: 'PUT', url: URL_, body: request, request, signal: request.signal });
    expect([plain.body, plain.request, plain.signal].map((one, index) => one === [request, request, request.signal][index])).toEqual([true, true, true]);
    expect(plain.rest).toMatchObject({ credentials: 'omit', redirect: 'manual', cache: 'default' });
    expect(plain.headers.get('a')).toBe('b');
    const over = read(request, { method: 'DELETE', body: 'y', headers: { a: 'c' }, signal, redirect: 'error' });
    expect(over).toMatchObject({ method: 'DELETE', body: 'y', signal, rest: { redirect: 'error' } });
    expect(over.headers.get('a')).toBe('c');
    expect(over.signal).toBe(signal);
    expect(read(request, { signal: null }).signal).toBeUndefined();
  });

  test('an init whose members are inherited: a Request, or an object of a class', () => {
    const given = read(URL_, request);
    expect(given).toMatchObject({ method: 'PUT', signal: request.signal, rest: { credentials: 'omit', redirect: 'manual' } });
    expect(given.body).toBe(request.body);
    expect(given.headers.get('a')).toBe('b');
    expect(read(URL_, Object.create({ method: 'POST', body: 'x', credentials: 'omit' }))).toMatchObject({
      method: 'POST',
      body: 'x',
      rest: { credentials: 'omit' },
    });
  });

  test.each(['GET', 'HEAD'])('a Request to %s has no body', (method) => expect(read(new Request(URL_, { method }))).toMatchObject({ method, body: undefined }));

  test('the mode of a navigation is dropped, every other mode is kept', () => {
    const navigation = { url: URL_, method: 'POST', headers: new Headers(), mode: 'navigate', bodyUsed: true } as unknown as Request;
    expect(read(navigation, { body: 'x' }).rest).toEqual({});
    expect(read({ ...navigation, mode: 'same-origin' } as Request, { body: 'x' }).rest).toEqual({ mode: 'same-origin' });
  });

  test('a request that no attempt could send is refused', async () => {
    const used = new Request(URL_, { method: 'POST', body: 'x' });
    await used.text();
    expect(() => read(used)).toThrow(says(/read already/, /body-used/));
    expect(() => read(used, { body: null })).toThrow(says(/read already/, /body-used/));
    expect(read(used, { body: 'y' }).body).toBe('y');
    expect(() => read(URL_, { body: 'x' })).toThrow(says(/a GET can't have a body/, /a GET: no-body/));
    expect(() => read(URL_, { method: 'head', body: 'x' })).toThrow(says(/a HEAD can't have a body/, /a HEAD: no-body/));
  });

  test.each([
    [request, true],
    [{ url: URL_, headers: {} }, true],
    [{ url: URL_ }, false],
    [{ headers: {} }, false],
    [new URL(URL_), false],
    [URL_, false],
    [null, false],
  ])('%s is a Request: %s', (input, is) => expect(isRequest(input)).toBe(is));
});

describe('a body', () => {
  test.each<[string, unknown, string | undefined, string | null]>([
    ['text', 'x', 'x', null],
    ['none', undefined, undefined, null],
    ['null', null, undefined, null],
    ['parameters', new URLSearchParams({ a: '1' }), 'a=1', 'application/x-www-form-urlencoded;charset=UTF-8'],
    ['bytes', new TextEncoder().encode('xyz').subarray(1), 'yz', null],
    ['a buffer', new TextEncoder().encode('xyz').buffer, 'xyz', null],
    ['a Blob', new Blob(['x'], { type: 'text/csv' }), 'x', 'text/csv'],
    ['a File', new File(['x'], 'x.txt'), 'x', null],
    ['a stream', new Response('xyz').body, 'xyz', null],
    ['a Request', new Request(URL_, { method: 'POST', body: 'xyz' }), 'xyz', null],
    ['a Request without one', new Request(URL_, { method: 'POST' }), undefined, null],
  ])('of %s is sent as it is', async (_, body, text, type) => {
    const prepared = await ready(body);
    expect(await asText(prepared)).toBe(text);
    expect(prepared.headers.get('content-type')).toBe(type);
  });

  test.each([new URLSearchParams({ a: '1' }), new FormData()])('keeps the type that the call gives it: %s', async (body) => {
    expect((await ready(body, { 'content-type': 'text/own' })).headers.get('content-type')).toBe('text/own');
  });

  test('keeps its bytes when the caller changes the buffer', async () => {
    const bytes = new Uint8Array([97, 98]);
    const [view, buffer] = [await ready(bytes), await ready(bytes.buffer)];
    bytes.fill(0);
    expect([await asText(view), await asText(buffer)]).toEqual(['ab', 'ab']);
  });

  if (!LEAN)
    test('without a Symbol.toStringTag is recognized by its methods', async () => {
      const blob = { slice() {}, size: 1 };
      expect((await ready(blob)).body).toBe(blob);
      expect((await ready({ append() {}, sort() {}, toString: () => 'a=1' })).body).toBe('a=1');
    });

  test.each<[string, unknown, RegExp]>([
    ['an object', { a: 1 }, /got object/],
    ['something that only looks like a Blob', { slice() {} }, /got object/],
    ['something that only looks like parameters', { append() {} }, /got object/],
    ['something that can be sorted', { sort() {} }, /got object/],
    ['a number', 5, /got number/],
    ['a stream of text', Readable.toWeb(Readable.from(['x'])), says(/could not be read$/, /body-unread/)],
    ['a stream that is too long', new Response('x'.repeat(101)).body, /more than 100/],
    ['a stream that breaks', new ReadableStream({ start: (controller) => controller.error(new Error('broken')) }), says(/could not be read$/, /body-unread/)],
  ])('that cannot be sent twice is refused: %s', (_, body, message) => expect(ready(body)).rejects.toThrow(message));

  test('as long as its limit is sent; a longer stream is refused and cancelled', async () => {
    expect(await asText(await ready(new Response('x'.repeat(100)).body))).toHaveLength(100);
    const cancel = vi.fn();
    const long = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(60)), cancel });
    await expect(ready(long)).rejects.toThrow(UnreplayableBody);
    expect(cancel).toHaveBeenCalledOnce();
  });

  test('that fails while it is read is refused with the cause, and for a form with what to do instead', async () => {
    const cause = new Error('broken');
    const broken = (type: string) => ({ url: URL_, headers: new Headers(), bodyUsed: false, arrayBuffer: () => Promise.reject(cause), type });
    await expect(ready(broken(''))).rejects.toMatchObject({
      cause,
      message: says('once: the body could not be read', 'once: the body: body-unread (docs/errors.md#mistakes)'),
    });
    await expect(ready(broken(''), { 'content-type': 'multipart/form-data; boundary=x' })).rejects.toThrow(says('pass the FormData itself', 'form-unread'));
    await expect(ready(broken(''), { 'content-type': 'application/x-multipart' })).rejects.toThrow(says(/could not be read$/, /body-unread/));
  });
});

describe('on the wire', () => {
  test('a Blob of JSON keeps its type when a key goes into the body', async () => {
    const blob = await ready(new Blob(['{"a":1}'], { type: 'application/json' }));
    const { body, headers } = await wireOf(blob, 'json:idempotency_key');
    expect([body, headers.get('content-type')]).toEqual(['{"a":1}', 'application/json']);
  });

  const headers = new Headers({ a: 'b' });
  const prepared = (body: ReplayableRequest['body']): ReplayableRequest => ({ ...read(URL_), body, headers });

  test.each<[string, ReplayableRequest['body']]>([
    ['text', '{"a":1}'],
    ['bytes', new TextEncoder().encode('{"a":1}')],
    ['a Blob', new Blob(['{"a":1}'])],
    ['a Blob of another implementation', foreign('{"a":1}') as unknown as Blob],
  ])('a body of %s becomes text if a key goes into it, else it stays as it is', async (_, body) => {
    expect((await wireOf(prepared(body), 'body:key')).body).toBe('{"a":1}');
    expect((await wireOf(prepared(body), 'header:Key')).body).toBe(body);
    expect((await wireOf(prepared(body), 'header-sf:Key')).body).toBe(body);
  });

  test('the headers are a copy', async () => {
    const wire = await wireOf(prepared(undefined), 'header:Key');
    wire.headers.set('a', 'c');
    expect(headers.get('a')).toBe('b');
    expect(wire.body).toBeUndefined();
  });
});

describe('a fingerprint', () => {
  const of = async (body: unknown, hook?: OperationOptions['fingerprint']) => {
    const prepared = await ready(body);
    return fingerprint(prepared, digest, hook && ((bytes, json) => askFingerprint({ fingerprint: hook } as Settings, prepared, bytes, json)));
  };

  test('is the digest of method, URL and bytes, and `raw` is the digest of the bytes alone', async () => {
    const raw = digest('{"a":1}');
    expect(await of('{"a":1}')).toEqual({ raw, fingerprint: digest(`POST\n${URL_}\n${raw}`), json: true });
    expect(await of(new Blob(['{"a":1}']))).toEqual({ raw, fingerprint: digest(`POST\n${URL_}\n${raw}`), json: true });
    expect(await of(undefined)).toMatchObject({ raw: digest('') });
    expect(await of(foreign('{"a":1}'))).toMatchObject({ raw });
  });

  test.each<[unknown, boolean]>([
    ['{"a":1}', true],
    [' \n[1]', true],
    ['a{', false],
    ['"a"', false],
    ['', false],
    [new TextEncoder().encode('\t {'), true],
    [new TextEncoder().encode('['), true],
    [new TextEncoder().encode('a{'), false],
    [new Uint8Array([12, 3]), false],
    [new Uint8Array(), false],
    [new Uint8Array([191]), false],
    [undefined, false],
  ])('recognizes JSON by its first character: %o %s', async (body, json) => expect((await of(body)).json).toBe(json));

  test('with a hook is the digest of what the hook returns, and `raw` keeps only four digits', async () => {
    const asked: unknown[] = [];
    const told = await of('{"a":1}', (question) => {
      asked.push(question);
      return { a: 1 };
    });
    expect(asked).toEqual([{ method: 'POST', url: URL_, body: { a: 1 } }]);
    expect(told).toMatchObject({ raw: digest('{"a":1}').slice(0, 4), fingerprint: digest(`POST\n${URL_}\n${digest('{"a":1}')}`) });
    expect((await of('no JSON', ({ body }) => body)).fingerprint).toBe(digest(`POST\n${URL_}\n${digest('no JSON')}`));
    expect((await of(new TextEncoder().encode('x'), ({ body }) => (body as Uint8Array).length)).fingerprint).toBe(digest(`POST\n${URL_}\n${digest('1')}`));
  });

  test('with a hook that returns undefined is that of the bytes', async () => {
    expect((await of('x', () => undefined)).fingerprint).toBe((await of('x')).fingerprint);
    const form = () => new URLSearchParams('a=1');
    expect((await of(form(), () => undefined)).fingerprint).toBe((await of(form())).fingerprint);
  });

  test('names its scheme; a hook whose result is not JSON is refused, and the error says why', async () => {
    expect(SCHEME).toBe('sha256');
    const refused = { message: expect.stringMatching(/must return JSON, got bigint/), cause: expect.any(TypeError) };
    await expect(of('x', () => 1n)).rejects.toMatchObject(refused);
    // Otherwise all payloads would have the same fingerprint.
    for (const said of [() => 1, Symbol('x')]) await expect(of('x', () => said)).rejects.toThrow(`must return JSON, got ${typeof said}`);
    for (const said of [new ArrayBuffer(1), { cart: new Map([['a', 1]]) }, new FormData(), new URLSearchParams('a=1')])
      await expect(of('x', () => said)).rejects.toThrow('must return JSON, got object');
    class Order {}
    for (const said of [{}, [], new Order(), new Uint8Array(0), Object.create(null), new Date(0)]) await of('x', () => said);
  });

  test('of a form is that of its fields in any order, with files by name, type and content', async () => {
    const fingerprintOf = async (...entries: [string, string | File][]): Promise<string | undefined> => {
      const form = new FormData();
      for (const [name, value] of entries) form.append(name, value);
      return (await of(form)).fingerprint;
    };
    const file = new File(['x'], 'a.txt', { type: 'text/plain' });
    const one = await fingerprintOf(['a', '1'], ['f', file]);
    expect(await fingerprintOf(['f', file], ['a', '1'])).toBe(one);
    for (const other of [
      new File(['y'], 'a.txt', { type: 'text/plain' }),
      new File(['x'], 'b.txt', { type: 'text/plain' }),
      new File(['x'], 'a.txt', { type: 'text/html' }),
    ])
      expect(await fingerprintOf(['a', '1'], ['f', other])).not.toBe(one);
    expect(await fingerprintOf(['a', '1\n["b","2"]'])).not.toBe(await fingerprintOf(['a', '1'], ['b', '2']));
  });
});

describe('a request stored for another page', () => {
  test('keeps mode, credentials and redirect, and no other option that is for fetch alone', async () => {
    const far = { mode: 'same-origin', credentials: 'omit', redirect: 'error' } as const;
    const prepared = { ...(await ready('x')), rest: { ...far, cache: 'no-store', keepalive: true } } as const;
    expect(toStore({ prepared }, [])).toEqual({ method: 'POST', url: URL_, ...far, headers: [], body: 'x' });
  });

  test('keeps bytes as base64, and is not made of a Blob', async () => {
    expect(toStore({ prepared: await ready(new Uint8Array([0, 255])) }, [])).toEqual({ method: 'POST', url: URL_, headers: [], body: 'AP8=', base64: true });
    expect(toStore({ prepared: await ready(new Blob(['x'])) }, [])).toBeUndefined();
  });
});
