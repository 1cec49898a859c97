/**
 * Goal: an answer is read, and its bytes become text as UTF-8, where a platform has no TextDecoder, no streams, a Promise of its
 * own, or a Response that takes bytes for Latin-1.
 */
import { Readable } from 'node:stream';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answers, createOnce, hooks, memoryStore } from '../../src/entries/index.js';
import { readUpTo } from '../../src/http/bytes.js';
import { textOf } from '../../src/http/native.js';
import { LEAN } from '../support/texts.js';

const TEXT = 'héllo 世界 😀 %41';
afterEach(() => void vi.unstubAllGlobals());

test.each(LEAN ? ['with'] : ['with', 'without'])('UTF-8 is decoded %s a TextDecoder', (how) => {
  const bytes = new TextEncoder().encode(TEXT);
  if (how === 'without') vi.stubGlobal('TextDecoder', undefined);
  expect([textOf(bytes), textOf(bytes.buffer), textOf(TEXT), textOf(new Uint8Array())]).toEqual([TEXT, TEXT, TEXT, '']);
});

test('an answer is read even if the `finally` of a Promise calls whatever it is given, as in React Native', async () => {
  vi.spyOn(Promise.prototype, 'finally').mockImplementation(function (this: Promise<unknown>, end) {
    const ended = async () => (end as () => void)();
    return this.then(
      (value) => ended().then(() => value),
      (error: unknown) => ended().then(() => Promise.reject(error)),
    );
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const once = createOnce({ store: memoryStore(), fetch: async () => Response.json({ id: 'ch_1' }, { status: 201 }), limits: { attempts: 1 } });
  const answer = await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 2] });
  expect(await answer.json()).toEqual({ id: 'ch_1' });
});

test('the next caller gets the bytes of an answer that has no type and is not UTF-8, from memory and from the store', async () => {
  const sent = Uint8Array.of(37, 80, 68, 70, 0, 255, 228);
  const store = memoryStore();
  const client = () =>
    createOnce({ namespace: 'u-7', use: [answers()], keep: { response: 'disk' }, store, fetch: async () => new Response(sent, { status: 201 }) });
  const once = client();
  for (const caller of [once, once, client()]) {
    const answer = await caller.fetch('https://shop.example/receipts', { method: 'POST', body: '{}', once: ['receipt', 1] });
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(sent);
  }
});

test.each(LEAN ? ['with'] : ['with', 'without'])('control characters are decoded %s a TextDecoder', (how) => {
  if (how === 'without') vi.stubGlobal('TextDecoder', undefined);
  expect(textOf(new TextEncoder().encode('a\n\u0001b'))).toBe('a\n\u0001b');
});

test.each(LEAN ? ['with'] : ['with', 'without'])('bytes that are not UTF-8 become text %s a TextDecoder, too', (how) => {
  if (how === 'without') vi.stubGlobal('TextDecoder', undefined);
  expect(textOf(Uint8Array.from([0x7b, 0xe9, 0x7d]))).toBe(how === 'with' ? '{\uFFFD}' : '{é}');
});

describe('a stream', () => {
  const cancel = vi.fn();
  const stream = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of [[1, 2], [], [3]]) controller.enqueue(new Uint8Array(chunk));
        controller.close();
      },
    });

  test('is read as its chunks, one after the other', async () => expect(await readUpTo(stream(), 3)).toEqual(new Uint8Array([1, 2, 3])));

  test('of buffers, or of views of any type, is read as their bytes', async () => {
    const { buffer } = Uint8Array.of(1, 0, 2, 0);
    const chunks = [buffer, new DataView(buffer, 1), new Uint16Array(buffer)];
    expect(await readUpTo(Readable.toWeb(Readable.from(chunks)) as ReadableStream, 100)).toEqual(new Uint8Array([1, 0, 2, 0, 0, 2, 0, 1, 0, 2, 0]));
  });

  test('that is longer than the limit is cancelled', async () => {
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(2)), cancel });
    expect(await readUpTo(endless, 3)).toBeUndefined();
    expect(cancel).toHaveBeenCalledTimes(1);
  });
});

test('an answer without a stream is read as text, as React Native’s own fetch needs it', async () => {
  const copy = { text: async () => JSON.stringify({ says: TEXT }), arrayBuffer: () => Promise.reject(new Error('Latin-1')) };
  const answer = { ...copy, status: 201, ok: true, statusText: '', url: '', bodyUsed: false, headers: new Headers({ 'content-type': 'application/json' }) };
  const fetch = async () => ({ ...answer, clone: () => answer }) as unknown as Response;
  const seen: unknown[] = [];
  const once = createOnce({ use: [hooks()], store: memoryStore(), fetch, verdict: ({ json }) => void seen.push(json) });
  await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
  expect(seen).toEqual([{ says: TEXT }]);
});

if (!LEAN)
  describe('bodies of classes without a tag, as React Native has them', () => {
    const sent: unknown[] = [];
    const fetch = async (_: unknown, init?: RequestInit) => {
      sent.push(init?.body, new Headers(init?.headers).get('content-type'));
      return new Response('{}', { status: 201 });
    };
    const pay = (body: object) =>
      createOnce({ store: memoryStore(), fetch }).fetch('https://shop.example/pay', { method: 'POST', body: body as BodyInit, once: ['pay', 1] });
    afterEach(() => void sent.splice(0));

    test('URLSearchParams are text', async () => {
      await pay({ append() {}, sort() {}, toString: () => 'a=1' });
      expect(sent).toEqual(['a=1', 'application/x-www-form-urlencoded;charset=UTF-8']);
    });

    test('a form whose bytes cannot be fixed is refused, and nothing is sent', async () => {
      vi.stubGlobal(
        'Response',
        class {
          arrayBuffer() {
            throw new Error('could not read FormData body as blob');
          }
        },
      );
      await expect(pay({ append() {}, getParts: () => [] })).rejects.toMatchObject({ code: 'ERR_ONCE_BODY' });
      expect(sent).toEqual([]);
    });

    test('any other object is refused', () => expect(pay({ a: 1 })).rejects.toMatchObject({ code: 'ERR_ONCE_BODY' }));
  });
