/**
 * Goal: a call that HTTP allows to be sent again is sent again as often and as long as the limits allow; everything else goes out once, and its caller gets
 * what fetch would give. Method: tables of calls and answers, on a clock that only the test moves.
 */
import { describe, expect, test, vi } from 'vitest';
import type { Client } from '../../src/engine/client.js';
import { StopSource } from '../../src/engine/stop-signal.js';
import { sendAgain } from '../../src/features/retrying.js';
import { type Outline, outline } from '../../src/http/outline.js';
import type { Settings } from '../../src/options.js';
import type { Platform } from '../../src/ports.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { rest } from '../support/world.js';

const URL_ = 'https://shop.example/cart';
const resolve: Platform['resolve'] = (url) => ({ url, origin: new URL(url).origin });

describe('the outline of a call', () => {
  const request = new Request(URL_, { method: 'PUT', body: 'x' });
  const { signal } = new AbortController();
  test.each<[string, RequestInfo | URL, RequestInit, Partial<Outline>]>([
    ['a URL as text', URL_, {}, { method: 'GET', replayable: true, signal: undefined }],
    ['a URL', new URL(URL_), { method: 'put' }, { method: 'PUT' }],
    ['a Request', request, {}, { method: 'PUT', replayable: false, signal: request.signal }],
    ['a Request, and an init that overrides it', request, { method: 'DELETE', signal, body: 'y' }, { method: 'DELETE', replayable: true, signal }],
    ['a Request whose signal the init removes', request, { signal: null }, { signal: undefined }],
    ['a Request without a body', new Request(URL_), {}, { method: 'GET', replayable: true }],
    [
      'a Request that can have a body, on a platform that does not show it',
      { url: URL_, method: 'PUT', headers: new Headers() } as Request,
      {},
      { replayable: false },
    ],
    ['a DELETE Request, on such a platform', { url: URL_, method: 'DELETE', headers: new Headers() } as Request, {}, { replayable: false }],
    ['a DELETE Request without a body', new Request(URL_, { method: 'DELETE' }), {}, { method: 'DELETE', replayable: true }],
    ['a DELETE of a URL', URL_, { method: 'DELETE' }, { replayable: true }],
    ['text', URL_, { method: 'PUT', body: 'ReadableStream' }, { replayable: true }],
    ['bytes', URL_, { method: 'PUT', body: new Uint8Array(2) }, { replayable: true }],
    ['a stream', URL_, { method: 'PUT', body: new ReadableStream() }, { replayable: false }],
    ['an async iterable, as Node takes it', URL_, { method: 'PUT', body: (async function* () {})() as never }, { replayable: false }],
    ['a form of form-data, which is a stream', URL_, { method: 'PUT', body: Object.assign(new FormData(), { pipe() {} }) }, { replayable: false }],
    ['no body', URL_, { method: 'PUT', body: null }, { replayable: true }],
    ['a Request with a body that is not PUT', new Request(URL_, { method: 'OPTIONS', body: 'x' }), {}, { replayable: false }],
  ])('%s', (_, input, init, expected) => {
    const read = outline({ resolve } as Platform, input, init);
    expect(read).toMatchObject(expected);
    // An AbortSignal has no properties of its own that `toMatchObject` could compare.
    if ('signal' in expected) expect(read.signal).toBe(expected.signal);
  });
});

test.each<[string, RequestInfo | URL]>([
  ['a URL as text', URL_],
  ['a URL', new URL(URL_)],
  ['a Request', new Request(URL_)],
])('the place of %s is its URL', (_, input) => expect(outline({ resolve } as Platform, input, {}).place()).toBe(URL_));

test('the place of an invalid URL is the text that was given', () => {
  const fails = (): never => {
    throw new TypeError('no address');
  };
  expect(outline({ resolve: fails as Platform['resolve'] } as Platform, 'http://', {}).place()).toBe('http://');
});

test('the signal of a Request is its own', () => {
  const request = new Request(URL_);
  expect(outline({ resolve } as Platform, request, {}).signal).toBe(request.signal);
  expect(outline({ resolve } as Platform, request, { signal: null }).signal).toBeUndefined();
});

type Answer = Response | Error;

function scene() {
  const clock = virtualClock({ settle: rest });
  const client = { platform: { clock, randomness: { random: () => 1 } }, registry: { latest: new Map() }, closing: new StopSource() } as unknown as Client;
  const settings = { limits: { totalMs: 10_000, attempts: 3 }, retry: { minDelayMs: 1000, maxDelayMs: 60_000, factor: 2, budget: 100 } } as Settings;
  const sent: number[] = [];
  const start = clock.now();
  const plain = (answers: Answer[], call: Partial<Outline> = {}) => {
    const ended = sendAgain(
      client,
      settings,
      { method: 'GET', place: () => URL_, replayable: true, signal: undefined, sendable: () => true, ...call },
      async () => {
        sent.push(clock.now() - start);
        const answer = answers.shift() ?? new Error('nothing is left to answer with');
        if (answer instanceof Error) throw answer;
        return answer;
      },
    );
    ended.catch(() => {});
    return ended;
  };
  const end = async (answers: Answer[], call?: Partial<Outline>): Promise<unknown> => {
    const ended = plain(answers, call);
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
    expect(client.registry.latest.size).toBe(0);
    return ended.then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
  };
  return { clock, client, sent, plain, end };
}

const answer = (status: number, headers: Record<string, string> = {}): Response => new Response(null, { status, headers });
const down = (): Error => new Error('down');

describe('what comes back', () => {
  test.each([408, 421, 425, 429, 460, 499, 500, 502, 503, 504, 511, 520, 524, 529])('%i is sent again', async (status) => {
    const { end, sent } = scene();
    expect(await end([answer(status), answer(200)])).toBe(200);
    expect(sent).toEqual([0, 1000]);
  });

  test('503 is sent again, even if its body is not a web stream, like that of node-fetch', async () => {
    const busy = Object.defineProperty(answer(503), 'body', { value: { pipe: () => {} } });
    expect(await scene().end([busy, answer(200)])).toBe(200);
  });

  test.each([200, 204, 304, 400, 404, 409, 423, 501, 505, 510, 512, 530, 552])('%i is the answer', async (status) => {
    const { end, sent } = scene();
    expect(await end([answer(status)])).toBe(status);
    expect(sent).toEqual([0]);
  });

  test.each([
    ['GET', 3],
    ['HEAD', 3],
    ['OPTIONS', 3],
    ['PUT', 3],
    ['DELETE', 3],
    ['POST', 1],
    ['PATCH', 1],
    ['WIDGET', 1],
    ['GETALL', 1],
  ])('%s goes out %i times in all if every attempt fails', async (method, times) => {
    const { end, sent } = scene();
    expect(await end([down(), down(), down(), answer(200)], { method })).toBe('down');
    expect(sent).toEqual([0, 1000, 3000].slice(0, times));
  });

  test('a request whose body is gone after one attempt is sent once', async () => {
    const { end, sent } = scene();
    expect(await end([answer(503)], { replayable: false })).toBe(503);
    expect(sent).toEqual([0]);
  });

  test("the server's Retry-After is respected if it lies within the time of the call", async () => {
    const late = scene();
    expect(await late.end([answer(503, { 'retry-after-ms': '9999' }), answer(200)])).toBe(200);
    expect(late.sent).toEqual([0, 9999]);
    const tooLate = scene();
    expect(await tooLate.end([answer(503, { 'retry-after': '10' }), answer(200)])).toBe(503);
    expect(tooLate.sent).toEqual([0]);
  });

  test('the body of an answer that leads to a retry is cancelled', async () => {
    const cancel = vi.fn();
    const { end } = scene();
    await end([new Response(new ReadableStream({ cancel }), { status: 503 }), answer(200)]);
    expect(cancel).toHaveBeenCalledOnce();
  });

  test('a body that cannot be cancelled changes nothing', async () => {
    const cancel = () => Promise.reject(new Error('can not'));
    expect(await scene().end([new Response(new ReadableStream({ cancel }), { status: 503 }), answer(200)])).toBe(200);
  });
});

describe('a caller who leaves', () => {
  test('during a wait gets the last answer, or the reason if there is none', async () => {
    for (const [first, told] of [
      [answer(503), { status: 503 }],
      [down(), new Error('enough')],
    ] as const) {
      const { clock, plain, sent } = scene();
      const controller = new AbortController();
      const ended = plain([first, answer(200)], { signal: controller.signal });
      await clock.advance(10);
      controller.abort(new Error('enough'));
      await rest();
      expect(clock.pending).toBe(0);
      if (told instanceof Error) await expect(ended).rejects.toThrow(told);
      else expect(await ended).toMatchObject(told);
      expect(sent).toEqual([0]);
    }
  });

  test('before the answer came gets no retry', async () => {
    const { end, sent } = scene();
    expect(await end([down(), answer(200)], { signal: AbortSignal.abort() })).toBe('down');
    expect(sent).toEqual([0]);
  });

  test('by closing the client gets the last error of the network', async () => {
    const { clock, client, plain, sent } = scene();
    const ended = plain([down(), answer(200)]);
    await clock.advance(10);
    client.closing.abort();
    await expect(ended).rejects.toThrow('down');
    expect(sent).toEqual([0]);
  });
});

describe('a PUT', () => {
  test('that a later PUT overtakes while it is under way is not sent again', async () => {
    const { clock, plain, sent } = scene();
    const first = plain([down(), answer(299)], { method: 'PUT' });
    const second = plain([answer(503), answer(200)], { method: 'PUT' });
    await clock.advance(10_000);
    await expect(first).rejects.toThrow('down');
    expect(await second).toMatchObject({ status: 200 });
    expect(sent).toEqual([0, 0, 1000]);
  });

  test('whose device sleeps before its second attempt is not sent again, and a GET is', async () => {
    for (const [method, told] of [
      ['PUT', 503],
      ['GET', 200],
    ] as const) {
      const { clock, plain } = scene();
      const ended = plain([answer(503), answer(200)], { method });
      await clock.advance(10);
      clock.jump(3_600_000);
      await clock.advance(10_000);
      expect(await ended).toMatchObject({ status: told });
    }
  });

  test('is overtaken by a later write to its URL, but not by a read there or a write elsewhere; a read is not overtaken', async () => {
    const { clock, plain } = scene();
    const put = plain([answer(503), answer(200)], { method: 'PUT' });
    await clock.advance(10);
    void plain([answer(200)], { method: 'PUT', place: () => `${URL_}/other` });
    void plain([answer(200)]);
    await clock.advance(10_000);
    expect(await put).toMatchObject({ status: 200 });
    const get = plain([answer(503), answer(200)]);
    const overtaken = plain([answer(503), answer(200)], { method: 'PUT' });
    await clock.advance(10);
    void plain([answer(200)], { method: 'POST' });
    await clock.advance(10_000);
    expect(await get).toMatchObject({ status: 200 });
    expect(await overtaken).toMatchObject({ status: 503 });
  });
});
