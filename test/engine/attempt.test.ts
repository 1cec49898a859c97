/**
 * Goal: one attempt ends in time, claims no more than it knows, and keeps of an answer what can be given again. Method: the
 * attempt alone, on a transport that the test answers by hand, with bodies of every length and type.
 */
import { describe, expect, test } from 'vitest';
import { NO_ANSWER, NOT_SENT } from '../../src/core/verdict.js';
import type { AttemptRequest, Client } from '../../src/engine/client.js';
import { answerOf, replayResponse } from '../../src/http/answer.js';
import { callTransport } from '../../src/http/http-payload.js';
import type { ReplayableRequest } from '../../src/http/request.js';
import type { Answered, TransportResult } from '../../src/http/transport-result.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { NeverConnected } from '../support/server.js';
import { rest } from '../support/world.js';

const URL_ = 'https://shop.example/pay';
const LIMIT = 16;
const ATTEMPT_MS = 30_000;
const THAW_MS = 1000;

type Send = (url: string, init: RequestInit) => Promise<Response>;

function scene(send: Send, more: Partial<ReplayableRequest> = {}) {
  const clock = virtualClock({ settle: rest });
  const client = {
    platform: { clock },
    transport: {
      send,
      neverSent: (error: unknown) => error instanceof NeverConnected || Boolean((error as { judged?: unknown } | undefined)?.judged),
      mayResend: () => false,
    },
  } as unknown as Client;
  const prepared = { method: 'POST', url: URL_, headers: new Headers({ a: 'b' }), body: '{}', rest: {}, ...more } as ReplayableRequest;
  const stop = new AbortController();
  const leaving = { leaves: true };
  const job = { stop: stop.signal, settings: { limits: { bodyBytes: LIMIT } } } as unknown as AttemptRequest['job'];
  const left = () => callTransport(client, prepared, { job, carrier: '', ms: ATTEMPT_MS, leaves: () => leaving.leaves });
  return { clock, stop, leaving, left };
}

const answered = (left: TransportResult): Answered => {
  if (!left.answered) throw new Error(`it ended with ${left.reading.kind}`);
  return left.answered;
};

const bytes = (...chunks: readonly string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });

describe('the request of an attempt', () => {
  test('is sent as it was prepared, with an abort signal of its own', async () => {
    const sent: unknown[] = [];
    const { left } = scene(
      async (url, { signal, ...init }) => {
        sent.push(url, signal instanceof AbortSignal, init);
        return new Response('{}');
      },
      { rest: { credentials: 'include' } },
    );
    await left();
    expect(sent).toEqual([URL_, true, { credentials: 'include', method: 'POST', headers: { A: 'b' }, body: '{}' }]);
  });

  test('has no body if the call has none', async () => {
    let body: unknown;
    await scene(
      async (_, init) => {
        ({ body } = init);
        return new Response();
      },
      { body: undefined },
    ).left();
    expect(body).toBeNull();
  });

  test('is not sent if it must not leave', async () => {
    let calls = 0;
    const { left, leaving } = scene(async () => {
      calls++;
      return new Response();
    });
    leaving.leaves = false;
    expect(await left()).toEqual({ reading: NOT_SENT });
    expect(calls).toBe(0);
  });
});

describe('the end of an attempt', () => {
  const never: Send = () => new Promise(() => {});

  test('comes at the time limit, and the transport is told to stop', async () => {
    let signal: AbortSignal | null | undefined;
    const { clock, left } = scene((_, init) => {
      ({ signal } = init);
      return never(URL_, init);
    });
    const ended = left();
    await clock.advance(ATTEMPT_MS - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await ended).toEqual({ reading: NO_ANSWER, reached: false });
    expect(signal?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test('comes at once when the caller is gone', async () => {
    const { clock, stop, left } = scene(never);
    const ended = left();
    stop.abort();
    expect(await ended).toMatchObject({ reading: NO_ANSWER });
    expect(clock.pending).toBe(0);
  });

  test('with an answer leaves no timer, and does not abort the transport', async () => {
    let signal: AbortSignal | null | undefined;
    const { clock, left } = scene(async (_, init) => {
      ({ signal } = init);
      return new Response('{}');
    });
    await left();
    await rest();
    expect(clock.pending).toBe(0);
    expect(signal?.aborted).toBe(false);
  });

  test('by a broken connection counts as no answer, with its cause and whether a status had arrived', async () => {
    const cause = new Error('reset');
    expect(await scene(() => Promise.reject(cause)).left()).toEqual({ reading: NO_ANSWER, cause, reached: false });
    const broken = new ReadableStream({ start: (controller) => controller.error(cause) });
    expect(await scene(async () => new Response(broken, { status: 503 })).left()).toEqual({ reading: NO_ANSWER, cause, reached: true });
    const stuck = scene(async () => new Response(new ReadableStream(), { status: 201, headers: { 'content-type': 'application/json' } }));
    const ended = stuck.left();
    await stuck.clock.advance(ATTEMPT_MS);
    expect(await ended).toEqual({ reading: NO_ANSWER, reached: true });
  });

  test('is "not sent" only if the transport says so and no status has arrived', async () => {
    const cause = new NeverConnected('refused');
    expect(await scene(() => Promise.reject(cause)).left()).toEqual({ reading: NOT_SENT, cause });
    const broken = new ReadableStream({ start: (controller) => controller.error(cause) });
    expect(await scene(async () => new Response(broken, { status: 201 })).left()).toEqual({ reading: NO_ANSWER, cause, reached: true });
  });

  test('is a rejection if the platform throws while it judges the error; no timer is left', async () => {
    const { clock, left } = scene(() =>
      Promise.reject(
        Object.defineProperty({}, 'judged', {
          get() {
            throw new RangeError('judged');
          },
        }),
      ),
    );
    await expect(left()).rejects.toThrow('judged');
    await rest();
    expect(clock.pending).toBe(0);
  });

  test.each([10 * ATTEMPT_MS, -10 * ATTEMPT_MS])(
    'waits a moment for an answer that has arrived meanwhile, after a sleep or on a clock that was set by %i ms',
    async (ms) => {
      let arrives: (response: Response) => void = () => {};
      const { clock, left } = scene(() => new Promise((resolve) => void (arrives = resolve)));
      const ended = left();
      clock.jump(ms);
      await clock.advance(ATTEMPT_MS);
      arrives(new Response('{}', { status: 201 }));
      await rest();
      expect(answered(await ended).response.status).toBe(201);
      expect(clock.pending).toBe(0);
    },
  );

  test.each([ATTEMPT_MS, -ATTEMPT_MS])('comes after that moment at the latest: clock set by %i ms', async (ms) => {
    const { clock, left } = scene(never);
    const ended = left();
    clock.jump(ms);
    await clock.advance(ATTEMPT_MS + THAW_MS);
    expect(await ended).toMatchObject({ reading: NO_ANSWER });
  });

  test.each([THAW_MS, -THAW_MS])('is not put off by a clock that is set by %i ms', async (ms) => {
    const { clock, left } = scene(never);
    const ended = left();
    clock.jump(ms);
    await clock.advance(ATTEMPT_MS);
    expect(clock.pending).toBe(0);
    expect(await ended).toMatchObject({ reading: NO_ANSWER });
  });
});

describe('the body of an answer', () => {
  const read = async (body: BodyInit | null, headers: Record<string, string> = {}) => answered(await scene(async () => new Response(body, { headers })).left());
  const TEXT = { 'content-type': 'text/plain' };

  test.each([
    ['text', TEXT],
    ['JSON', { 'content-type': 'application/problem+json' }],
    ['XML', { 'content-type': 'application/xml; charset=UTF-8' }],
    ['a script', { 'content-type': 'application/javascript; charset="utf-8"' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded; charset=utf8' }],
  ])('is kept as text if it is %s, in one chunk or several', async (_, headers) => {
    for (const stream of [bytes('hé', 'llo'), bytes('héllo'), bytes('', 'héllo', '')])
      expect(await read(stream, headers)).toMatchObject({ body: 'héllo', text: 'héllo' });
  });

  test('is kept as text if it has no type, and is null if there is none', async () => {
    expect(await read(bytes('{}'))).toMatchObject({ body: '{}', text: '{}' });
    expect(await read(null)).toMatchObject({ body: null, text: '' });
  });

  test.each([
    ['an image', { 'content-type': 'image/png' }, ''],
    ['text of another charset', { 'content-type': 'text/plain; charset=latin1' }, 'abc'],
  ])('is kept as bytes if it is %s; only text is read', async (_, headers, said) => {
    for (const stream of [bytes('ab', 'c'), bytes('abc')]) {
      const { body, text } = await read(stream, headers);
      expect(body).toBeInstanceOf(ArrayBuffer);
      expect(new Uint8Array(body as ArrayBuffer)).toEqual(new TextEncoder().encode('abc'));
      expect(text).toBe(said);
    }
  });

  test.each([{}, { 'content-type': 'text/csv' }, { 'content-type': 'application/json; charset=utf-8' }])(
    'is kept as bytes if it is not UTF-8: %o',
    async (headers) => {
      const sent = Uint8Array.of(0, 255, 98, 228);
      const { body, text } = await read(sent, headers as Record<string, string>);
      expect(new Uint8Array(body as ArrayBuffer)).toEqual(sent);
      expect(text).toContain('b');
    },
  );

  test.each([{}, { 'content-type': 'application/json; charset=shift_jis' }])(
    'is not taken for cut if it is JSON in Shift_JIS, whose letters have brackets among their bytes: %o',
    async (headers) => {
      const sent = Uint8Array.of(...[...'{"a":"'].map((one) => one.charCodeAt(0)), 0x83, 0x5b, 0x95, 0x5c, 0x22, 0x7d);
      expect((await read(sent, headers as Record<string, string>)).text).toMatch(/^{"a":/);
    },
  );

  test.each<[string, Uint8Array<ArrayBuffer> | string]>([
    ['before its last bracket', '{"a":1'],
    ['after an inner bracket', '{"a":{"b":1}'],
    ['in a string that contains the missing bracket', '{"a":"x }'],
    ['after a string that contains the missing bracket', '["}]",1'],
    ['in such a string, after an escaped quote', '["a\\"]'],
    ['in the bytes of a letter', new TextEncoder().encode('["bé').slice(0, -1)],
  ])('counts as no answer if it is JSON that was cut %s', (_, sent) => expect(read(sent)).rejects.toThrow('no-answer'));

  test('is only the part of a larger buffer that a chunk views', async () => {
    const whole = new TextEncoder().encode('xxabcxx');
    const part = new ReadableStream({
      start(controller) {
        controller.enqueue(whole.subarray(2, 5));
        controller.close();
      },
    });
    const { body } = await read(part, { 'content-type': 'image/png' });
    expect(new Uint8Array(body as ArrayBuffer)).toEqual(new TextEncoder().encode('abc'));
  });

  test('is kept if it is as long as the limit', async () => {
    const fits = 'x'.repeat(LIMIT);
    expect(await read(bytes(fits), { ...TEXT, 'content-length': String(LIMIT) })).toMatchObject({ body: fits });
    expect(await read(bytes(fits.slice(1), 'x'), TEXT)).toMatchObject({ body: fits });
  });

  test.each<[string, BodyInit, Record<string, string>]>([
    ['if it announces that it is too long', bytes('short'), { ...TEXT, 'content-length': String(LIMIT + 1) }],
    ['if it turns out to be too long', bytes('x'.repeat(LIMIT), 'x'), TEXT],
    ['if it is an event stream', bytes('data: 1'), { 'content-type': 'text/event-stream' }],
  ])('is not kept %s, and the caller reads all of it', async (_, stream, headers) => {
    const { response, body, text } = await read(stream, headers);
    expect([body, text]).toEqual([undefined, '']);
    expect(await response.text()).toMatch(/^(short|x{17}|data: 1)$/);
  });

  test('is null if the answer is opaque', async () => {
    const opaque = Object.defineProperties(new Response(), { type: { value: 'opaque' }, status: { value: 0 } });
    const { body, text } = answered(await scene(async () => opaque).left());
    expect([body, text]).toEqual([null, '']);
  });

  test('is cancelled if it still arrives when nobody wants it any more; a body that was kept is left alone', async () => {
    for (const [body, cut] of [
      ['x'.repeat(LIMIT + 1), true],
      ['short', false],
    ] as const) {
      let sent: AbortSignal | null | undefined;
      const { left, stop } = scene(async (_, { signal }) => {
        sent = signal;
        return new Response(body);
      });
      await left();
      stop.abort('enough');
      expect(sent?.aborted).toBe(cut);
      if (cut) expect(sent?.reason).toBe('enough');
    }
  });
});

describe('an answer as the rules see it', () => {
  const of = (text: string, response = new Response(null, { status: 202, headers: { 'X-A': 'b' } })) => answerOf({ response, text });

  test('has what came, and defaults for what the platform leaves out', () => {
    expect(of('')).toMatchObject({ status: 202, type: 'default', redirected: false, text: '', json: undefined });
    expect(of('').header('x-a')).toBe('b');
    const bare = { status: 200, headers: new Headers() } as Response;
    expect(of('', bare)).toMatchObject({ type: 'default', redirected: false });
    expect(of('', { ...bare, type: 'cors', redirected: true } as Response)).toMatchObject({ type: 'cors', redirected: true });
  });

  test.each([
    ['{"a":1}', { a: 1 }],
    [' \n[1]', [1]],
    ['"word"', 'word'],
    ['word {}', undefined],
    ['{"a":', undefined],
    ['5', undefined],
    ['', undefined],
  ])('reads %j as JSON: %j', (text, json) => {
    const answer = of(text);
    expect(answer.json).toEqual(json);
    // It is parsed once: the same object each time.
    expect(answer.json).toBe(answer.json);
  });
});

describe('the copy of an answer for another caller', () => {
  test('has the status, headers and address of the first, and the kept body', async () => {
    const response = new Response('first', { status: 201, statusText: 'Made', headers: { 'X-A': 'b' } });
    Object.defineProperty(response, 'url', { value: URL_ });
    const copy = replayResponse({ response, body: 'kept', text: 'kept' });
    expect(copy).toMatchObject({ status: 201, statusText: 'Made', url: URL_ });
    expect(copy?.headers.get('x-a')).toBe('b');
    expect(await copy?.text()).toBe('kept');
  });

  test('does not exist if the body was not kept, unless there is no body', () => {
    expect(replayResponse({ response: new Response('long'), text: '' })).toBeUndefined();
    expect(replayResponse({ response: new Response(null, { status: 204 }), body: null, text: '' })).toMatchObject({ status: 204 });
  });
});
