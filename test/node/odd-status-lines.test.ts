/**
 * Goal: whatever a server's status line and headers contain, the first caller gets the server's own answer, and every other caller
 * gets an outcome. Method: Node's own fetch and a server of bare TCP, which writes bytes that no HTTP library would write.
 */
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { createOnce, isOnceError, memoryStore, type OnceOptions, outcomeOf } from 'oncefetch/node';
import { afterEach, describe, expect, test } from 'vitest';

const REALM = Symbol.for('oncefetch');
const realm = globalThis as unknown as Record<symbol, unknown>;

const servers: Server[] = [];
afterEach(() => void servers.splice(0).forEach((server) => void server.close()));

/** A server that answers every request with these bytes. */
async function speaks(answer: Buffer): Promise<{ readonly url: string; readonly requests: () => number }> {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      requests++;
      socket.end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests: () => requests };
}

const withBody = (line: string, more = '') =>
  `HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 10\r\n${more}\r\n{"id":"c"}`;
const without = (line: string) => `HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n`;

const open = (options: OnceOptions = {}) => createOnce({ namespace: 'ann', store: memoryStore(), limits: { attempts: 1 }, ...options });

/** Opens a client as another process over the same store would: drops what oncefetch keeps in this process's memory. */
function reopen(options: OnceOptions): ReturnType<typeof createOnce> {
  realm[REALM] = undefined;
  return open(options);
}

/** Keeps answers in a store that several clients share. */
const durable = (options: OnceOptions = {}): OnceOptions => ({ store: memoryStore(), keep: { response: 'disk' }, ...options });
const charge = (once: ReturnType<typeof createOnce>, url: string) => once.fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] });

/** What a caller sees. */
async function seen(call: Promise<Response>): Promise<unknown> {
  const end: unknown = await call.catch((error: unknown) => error);
  const { effect } = outcomeOf(end) ?? {};
  if (end instanceof Response) return { status: end.status, text: await end.text(), effect };
  return isOnceError(end) ? { code: end.code, effect } : end;
}

const DONE = { status: 201, text: '{"id":"c"}', effect: 'done' };

describe.each<[string, Buffer, string]>([
  ['a phrase in UTF-8', Buffer.from(withBody('201 Créé')), 'Créé'],
  ['a phrase beyond Latin-1', Buffer.from(withBody('201 作成')), '作成'],
  ['a phrase in Latin-1', Buffer.from(withBody('201 Créé'), 'latin1'), 'Cr\ufffd\ufffd'],
  ['a phrase with a control character', Buffer.from(withBody('201 a\x01b')), 'a\x01b'],
  ['no phrase', Buffer.from(withBody('201')), ''],
  ['headers in Latin-1 and UTF-8', Buffer.concat([Buffer.from('HTTP/1.1 201 Made\r\nX-A: grüße\r\n', 'latin1'), Buffer.from(withBody('').slice(13))]), 'Made'],
])('a 201 with %s', (_, bytes, phrase) => {
  test('is the answer of every caller', async () => {
    const { url, requests } = await speaks(bytes);
    const once = open();
    const calls = [charge(once, url), charge(once, url), charge(once, url)];
    expect((await calls[0])?.statusText).toBe(phrase);
    expect(await Promise.all(calls.map(seen))).toEqual([DONE, DONE, DONE]);
    expect(await seen(charge(once, url))).toEqual(DONE);
    expect(requests()).toBe(1);
  });

  test('is replayed from the store', async () => {
    const { url, requests } = await speaks(bytes);
    const options = durable();
    await charge(open(options), url);
    expect(await seen(charge(reopen(options), url))).toEqual(DONE);
    expect(requests()).toBe(1);
  });
});

describe.each([600, 999])('a status of %i', (status) => {
  test('is the answer of every caller, and leaves the effect unknown', async () => {
    const { url } = await speaks(Buffer.from(withBody(`${status} Odd`)));
    const once = open();
    const unknown = { status, text: '{"id":"c"}', effect: 'unknown' };
    expect(await Promise.all([charge(once, url), charge(once, url)].map(seen))).toEqual([unknown, unknown]);
  });

  test('that a verdict function calls fresh is done for every caller, including later callers and answers from the store', async () => {
    const { url, requests } = await speaks(Buffer.from(withBody(`${status} Odd`)));
    const options = durable({ verdict: () => 'fresh' });
    const once = open(options);
    const done = { status, text: '{"id":"c"}', effect: 'done' };
    expect(await Promise.all([charge(once, url), charge(once, url)].map(seen))).toEqual([done, done]);
    const later = { code: 'ERR_ONCE_ALREADY_SETTLED', effect: 'done' };
    expect(await seen(charge(once, url))).toEqual(later);
    expect(await seen(charge(reopen(options), url))).toEqual(later);
    expect(requests()).toBe(1);
  });
});

test.each([204, 205])('a %i is the answer of every caller, including later callers and answers from the store', async (status) => {
  const { url, requests } = await speaks(Buffer.from(without(`${status} Nothing`)));
  const options = durable();
  const once = open(options);
  const done = { status, text: '', effect: 'done' };
  expect(await Promise.all([charge(once, url), charge(once, url)].map(seen))).toEqual([done, done]);
  expect(await seen(charge(once, url))).toEqual(done);
  expect(await seen(charge(reopen(options), url))).toEqual(done);
  expect(requests()).toBe(1);
});

test.each([204, 205, 304])('a %i with a body, which a custom fetch may return, is done for every caller', async (status) => {
  const odd = () => Object.defineProperty(new Response('body'), 'status', { value: status });
  const options = durable({ fetch: async () => odd(), verdict: () => 'fresh' });
  const once = open(options);
  const done = { status, effect: 'done' };
  const url = 'http://shop.example/';
  expect(await Promise.all([charge(once, url), charge(once, url)].map(seen))).toMatchObject([done, done]);
  expect(await seen(charge(once, url))).toMatchObject(done);
  expect(await seen(charge(reopen(options), url))).toMatchObject(done);
});

test('copies of an answer leave out a header that this platform refuses', async () => {
  const odd = () => {
    const response = new Response('{"id":"c"}', { status: 201 });
    const entries = [['x-odd', 'a\nb'] as const, ['x-even', 'c'] as const];
    const headers = {
      get: () => null,
      forEach(each: (value: string, name: string) => void) {
        for (const [name, value] of entries) each(value, name);
      },
      [Symbol.iterator]: () => entries[Symbol.iterator](),
    };
    return Object.defineProperty(response, 'headers', { value: headers });
  };
  const options = durable({ fetch: async () => odd() });
  const once = open(options);
  const url = 'http://shop.example/';
  expect(await Promise.all([charge(once, url), charge(once, url)].map(seen))).toEqual([DONE, DONE]);
  expect((await charge(once, url)).headers.get('x-even')).toBe('c');
  expect(await seen(charge(reopen(options), url))).toEqual(DONE);
});

test("if an answer can't be cloned, the first caller gets it, and the others are told that the operation is done", async () => {
  const response = new Response('x'.repeat(100), { status: 201 });
  response.clone = () => {
    throw new TypeError('no clone');
  };
  // The body is too long to be kept, so a copy for another caller is a clone.
  const once = open({ fetch: async () => response, limits: { attempts: 1, bodyBytes: 0 } });
  Object.defineProperty(response.headers, 'get', { value: (name: string) => (name === 'content-length' ? '100' : null) });
  const url = 'http://shop.example/';
  const [first, ...others] = await Promise.all([charge(once, url), charge(once, url), charge(once, url)].map(seen));
  expect(first).toMatchObject({ status: 201, effect: 'done' });
  expect(others).toEqual([1, 2].map(() => ({ code: 'ERR_ONCE_ALREADY_SETTLED', effect: 'done' })));
});
