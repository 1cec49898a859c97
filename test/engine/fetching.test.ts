/**
 * Goal: a request is sent with its key where the record says, its answer is read by the caller's verdict first, and what was
 * stored comes back as it was. Method: one payload at a time, each part by itself and in a world with a server.
 */
import { describe, expect } from 'vitest';
import { seal } from '../../src/core/record.js';
import { GENERIC } from '../../src/dialects/generic.js';
import type { Parts } from '../../src/engine/client.js';
import type { Result } from '../../src/engine/result.js';
import { explain, type Outcome, operation } from '../../src/entries/index.js';
import { linkOf, polling } from '../../src/features/polling.js';
import { resultOf } from '../../src/http/answer.js';
import { httpPayload } from '../../src/http/http-payload.js';
import type { ReplayableRequest } from '../../src/http/request.js';
import { storedAnswers, storedForm } from '../../src/http/stored-answer.js';
import { fromStore } from '../../src/http/stored-request.js';
import { resolveUrl } from '../../src/platform/shared.js';
import { type Arrival, answers, charged, lost, replays, textOf } from '../support/server.js';
import { CART, NAME, newWorld, ONE, pay, rest, SECOND, test, URL_ } from '../support/world.js';

const prepared = (more: Partial<ReplayableRequest> = {}): ReplayableRequest =>
  ({ method: 'POST', url: URL_, origin: 'https://shop.example', headers: new Headers(), body: '{}', rest: {}, ...more }) as ReplayableRequest;

describe('a stored answer', () => {
  const HEADERS = { 'x-a': 'b', 'x-c': 'd' };
  test.each([
    ['{}', 201],
    ['', 200],
    [null, 204],
  ])('with the body %j comes back as it was', async (body, status) => {
    const stored = storedForm(resultOf({ response: new Response(body, { status, statusText: 'Fine', headers: HEADERS }), body, text: '' }));
    const back = storedAnswers.fromStore(JSON.parse(JSON.stringify(stored))) as Result;
    expect(back).toMatchObject({ ok: true, lasting: true, response: { status, statusText: 'Fine' } });
    expect(Object.fromEntries(back.response?.headers ?? [])).toMatchObject(HEADERS);
    expect(await (back.copy() as Response).text()).toBe(body ?? '');
    expect(await back.response?.text()).toBe(body ?? '');
  });

  test('with a body of bytes comes back as it was', async () => {
    const body = Uint8Array.from({ length: 256 }, (_, n) => n).buffer;
    const headers = { 'content-type': 'image/png' };
    const stored = storedForm(resultOf({ response: new Response(body, { headers }), body, text: '' }));
    const back = storedAnswers.fromStore(JSON.parse(JSON.stringify(stored)));
    for (const response of [back?.copy(), back?.response] as Response[]) {
      expect(response.headers.get('content-type')).toBe('image/png');
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(body));
    }
  });

  test('does not exist if its body was not read', () => {
    expect(storedForm(resultOf({ response: new Response('x'), body: undefined, text: '' }))).toBeUndefined();
  });

  test('leaves out what looks like a credential', () => {
    const headers = { 'set-cookie': 'sid=1', 'x-auth-token': 't', authorization: 'b', 'x-csrf-token': 'c', 'x-session-id': 's', etag: '"1"', location: '/c/1' };
    const stored = storedForm(resultOf({ response: new Response('{}', { headers }), body: '{}', text: '{}' })) as { headers: [string, string][] };
    expect(Object.fromEntries(stored.headers)).toEqual({ 'content-type': 'text/plain;charset=UTF-8', etag: '"1"', location: '/c/1' });
  });

  test('does not come back if its status is one that no Response can have', () => {
    expect(storedAnswers.fromStore({ status: 600, statusText: '', headers: [], body: null })).toBeUndefined();
  });

  test.each([
    [{ json: '{"a":1}' }, { a: 1 }],
    [{ json: 'null' }, null],
    [{}, undefined],
  ])('of a function given to run comes back as its value: %j', (answer, value) => {
    expect(storedAnswers.fromStore(answer)).toMatchObject({ ok: true, response: undefined });
    expect(storedAnswers.fromStore(answer)?.value).toEqual(value);
  });
});

test('the copy of an answer is made of the kept body, or of the answer itself while nobody has read it', async () => {
  expect(await (resultOf({ response: new Response('x'), body: 'kept', text: '' }).copy() as Response).text()).toBe('kept');
  const response = new Response('long');
  const result = resultOf({ response, text: '' });
  expect(result.lasting).toBe(false);
  expect(await (result.copy() as Response).text()).toBe('long');
  await response.text();
  expect(result.copy()).toBeUndefined();
});

describe('a request from the store', () => {
  const record = (more: object) => ({ origin: 'https://shop.example', ...more }) as never;
  const request = { method: 'PATCH', url: URL_, headers: [['a', 'b']] as const };

  test('is the one that was stored', () => {
    expect(fromStore(record({ request: { ...request, body: 'text' } }))?.prepared).toMatchObject({
      method: 'PATCH',
      url: URL_,
      origin: 'https://shop.example',
      body: 'text',
    });
    expect(fromStore(record({ request }))?.prepared?.headers.get('a')).toBe('b');
    const far = { mode: 'same-origin', credentials: 'omit', redirect: 'error' };
    expect(fromStore(record({ request: { ...request, ...far, consent: { until: 1, alone: true } } }))?.prepared?.rest).toEqual(far);
    expect(fromStore(record({ request }))?.prepared?.rest).toEqual({});
    expect(fromStore(record({ request: { ...request, body: 'AP8=', base64: true } }))?.prepared?.body).toEqual(new Uint8Array([0, 255]));
    expect(fromStore(record({ request: { ...request, body: undefined, base64: true } }))?.prepared?.body).toBeUndefined();
    expect(fromStore(record({ request: { ...request, body: '' } }))?.prepared?.body).toBe('');
  });

  test('does not exist if none was stored; if only the link of its work is known, the link can be polled', () => {
    expect(fromStore(record({ link: URL_ }))).toBeUndefined();
    const { linked } = polling().parts as Pick<Parts, 'linked'>;
    expect(linked(record({ link: `${URL_}/jobs/1` }))?.prepared).toMatchObject({ method: 'GET', url: `${URL_}/jobs/1` });
    expect([...(linked(record({ link: URL_ }))?.prepared?.headers ?? [])]).toEqual([]);
    expect(linked(record({}))).toBeUndefined();
  });
});

describe('the link of work that goes on', () => {
  test.each<[Record<string, string>, string | undefined]>([
    [{ location: '/jobs/1' }, 'https://shop.example/jobs/1'],
    [{ location: 'https://shop.example/jobs/1#a' }, 'https://shop.example/jobs/1'],
    [{ location: '/jobs/1', 'operation-location': '/jobs/2' }, 'https://shop.example/jobs/2'],
    [{ location: '' }, undefined],
    [{ location: '/jobs/1', 'operation-location': '' }, 'https://shop.example/jobs/1'],
    [{ location: 'https://evil.example/' }, undefined],
    [{ location: 'https://' }, undefined],
    [{}, undefined],
  ])('%j is %s', (headers, link) => expect(linkOf(prepared(), { resolve: resolveUrl }, new Response(null, { headers }))).toBe(link));
});

test('the bytes of an earlier call come with their content type, and with nothing else', () => {
  const own = httpPayload(prepared({ headers: new Headers({ authorization: 'new', 'content-type': 'multipart/form-data; boundary=new' }), body: 'new' }));
  const earlier = (headers: Record<string, string>) => httpPayload(prepared({ headers: new Headers(headers), body: 'old' }));
  const mixed = own.withBytesOf?.(earlier({ authorization: 'old', 'content-type': 'multipart/form-data; boundary=old' }))?.prepared;
  expect(mixed?.body).toBe('old');
  expect(Object.fromEntries(mixed?.headers ?? [])).toEqual({ authorization: 'new', 'content-type': 'multipart/form-data; boundary=old' });
  expect(own.withBytesOf?.(earlier({}))?.prepared?.headers.get('content-type')).toBe('multipart/form-data; boundary=new');
  const effect = { origin: '', send: async () => ({}) } as never;
  expect(own.withBytesOf?.(effect)).toBe(effect);
});

describe('a poll', () => {
  test('is a GET with the headers of the call, except those about its body and conditions', async ({ world }) => {
    const { tab, once } = world.open({ accepted: 'poll', headers: () => ({ 'x-hook': 'h' }) });
    world.server.plays(answers(202, '', { location: '/jobs/1' }), answers(200, {}));
    const headers = {
      'content-type': 'application/json',
      'content-language': 'de',
      'if-match': 'e',
      'x-if-own': 'i',
      'x-content-own': 'c',
      authorization: 'a',
    };
    await world.end(tab, pay(once, { init: { headers } }));
    const asked = world.server.arrivals[1];
    expect(asked).toMatchObject({ method: 'GET', url: 'https://shop.example/jobs/1', body: null });
    expect(Object.fromEntries(asked?.headers ?? [])).toEqual({ 'x-if-own': 'i', 'x-content-own': 'c', authorization: 'a', 'x-hook': 'h' });
  });

  test('goes on if an answer or a hook fails', async ({ world }) => {
    let hooks = 0;
    const { tab, once } = world.open({ accepted: 'poll', headers: () => (hooks++ === 1 ? Promise.reject(new Error('no token')) : {}) });
    world.server.plays(answers(202, '', { location: '/jobs/1' }), lost(), answers(200, {}));
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done' } });
  });
});

describe('the headers hook', () => {
  test('is asked with the request as it goes out, before each attempt', async ({ world }) => {
    const asked: { attempt: number; resumed: boolean; method: string; url: string; body: unknown; headers: Headers }[] = [];
    const { tab, once } = world.open({
      headers: (question) => {
        asked.push(question as never);
        question.headers.set('x-own', 'changed');
        return { 'x-hook': String(question.attempt) };
      },
    });
    await world.end(tab, pay(once), charged(lost()), replays());
    expect(asked).toMatchObject([
      { attempt: 1, resumed: false, method: 'POST', url: URL_, body: JSON.stringify(CART) },
      { attempt: 2, resumed: false },
    ]);
    expect(asked[0]?.headers.get('idempotency-key')).toBe(world.server.keys[0]);
    expect(world.server.arrivals.map(({ headers }) => [headers.get('x-hook'), headers.get('x-own')])).toEqual([
      ['1', null],
      ['2', null],
    ]);
    expect(world.clock.pending).toBe(0);
  });

  test('that never answers is given up with the attempt, and with its caller', async () => {
    for (const leaves of [false, true]) {
      const { world, tab, once } = newWorld().open({ headers: () => new Promise(() => {}), limits: { attempts: 1, attemptMs: SECOND } });
      const controller = new AbortController();
      const [call] = await world.begin(pay(once, { signal: controller.signal }));
      if (leaves) controller.abort();
      const at = world.clock.now();
      const end = await world.end(tab, call);
      await rest();
      expect(world.clock.now() - at).toBe(leaves ? 0 : SECOND);
      if (!leaves) expect(end).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { type: 'unsent' } });
      expect(world.clock.pending).toBe(0);
    }
  });

  test('that takes its time leaves the rest of attemptMs to the attempt', async ({ world }) => {
    const { tab, once } = world.open({
      headers: () => new Promise((resolve) => void world.clock.timer(6 * SECOND, () => resolve({}))),
      limits: { attempts: 1, attemptMs: 10 * SECOND },
    });
    world.server.plays(charged(() => new Promise(() => {})));
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'unknown' }, ms: 10 * SECOND });
  });

  test('that takes its time sends nothing if the record is another one by then', async ({ world }) => {
    const { tab, once } = world.open({
      headers: async () => {
        await new Promise<void>((resolve) => void world.clock.timer(2 * SECOND, resolve));
        world.damage((record) => ({ ...record, key: 'another' }));
        return {};
      },
    });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', reason: 'busy' } });
    expect(world.server.arrivals).toEqual([]);
  });

  test('that is quick costs no read of the store', async ({ world }) => {
    const { tab, once } = world.open({ headers: () => new Promise((resolve) => void world.clock.timer(SECOND, () => resolve({}))) });
    let reads = 0;
    const { read } = tab.store;
    Object.assign(tab.store, { read: (id: string) => read(id).finally(() => reads++) });
    await world.end(tab, pay(once), answers(201));
    expect(reads).toBe(0);
  });
});

test('a key without a place in this request is not sent elsewhere, if an earlier page had a place for it', async ({ world }) => {
  const key = await world.interrupted(charged(lost()));
  const { tab, once } = world.open();
  world.damage((record) => seal({ ...record, carrier: 'body:idempotency_key' }));
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'not-a-verdict', key } });
  expect(world.server.arrivals).toHaveLength(1);
});

describe('an answer', () => {
  test('of which only the status line arrived shows that the server got the request', async ({ world, tab, once }) => {
    world.server.plays(charged(() => new Response(new ReadableStream({ start: (controller) => controller.error(new Error('cut')) }), { status: 201 })));
    expect((await world.end(tab, pay(once, ONE))).outcome).toMatchObject({ effect: 'unknown', sent: 'yes' });
    expect((await world.end(tab, pay(once, { ...ONE, operation: ['other'] }), charged(lost()))).outcome).toMatchObject({ effect: 'unknown', sent: 'maybe' });
  });

  test('that says in progress leads to the wait that the dialect gives; another answer does not', async ({ world }) => {
    world.random = () => 0;
    const { tab, once } = world.open({ dialect: { ...GENERIC, inProgressAfterMs: 3000 } });
    await world.end(tab, pay(once), answers(409), answers(503), answers(201));
    expect(world.server.gaps).toEqual([3000, 0]);
  });

  const own = new Error('of the hook');
  test.for<[string, () => unknown, object, readonly unknown[]]>([
    ['a word', () => 'rejected', { type: 'rejected' }, []],
    ['nothing', () => undefined, { type: 'rejected' }, []],
    ['nonsense', () => 'nonsense', { reason: 'not-a-verdict' }, [expect.any(TypeError)]],
    ['a promise', () => Promise.reject(own), { reason: 'not-a-verdict' }, [expect.any(TypeError), own]],
    [
      'an error',
      () => {
        throw own;
      },
      { reason: 'not-a-verdict' },
      [own],
    ],
  ])("is read by its caller's verdict first: %s", async ([_, verdict, outcome, reported], { world }) => {
    const { tab, once } = world.open({ verdict: verdict as never });
    const end = await world.end(tab, pay(once, ONE), answers(402));
    await rest();
    expect(end.outcome).toMatchObject(outcome);
    expect(tab.reported).toEqual(reported);
    // The explanation says so, and does not only say that the answer was a redirect or a page.
    if ('reason' in outcome) expect(explain(end.outcome as Outcome).summary).toContain('or your verdict threw or gave none of its words');
  });
});

test('once: false does not take the name from a call of an operation', async ({ world, tab, once }) => {
  const { outcome } = await world.end(tab, operation(once, NAME).fetch(URL_, { method: 'POST', body: '{}', once: false as never }), answers(201));
  expect(outcome).toMatchObject({ operation: NAME, effect: 'done' });
  expect(world.server.keys[0]).toBeTruthy();
});

test('a key has the form that the dialect gives it', async ({ world }) => {
  const { tab, once } = world.open({ dialect: { ...GENERIC, keyPattern: /^[\da-f]{32}$/, shape: (uuid) => uuid.replaceAll('-', '') } });
  expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ effect: 'done', key: expect.stringMatching(/^[\da-f]{32}$/) });
});

test('a Request in the place of the init is sent as it is, not as a GET without a body', async ({ world, tab, once }) => {
  const init = new Request(URL_, { method: 'POST', body: '{"amount":10}', headers: { 'x-a': 'b' } });
  const { outcome } = await world.end(tab, operation(once, NAME).fetch(URL_, init), answers(201));
  const arrival = world.server.arrivals[0] as Arrival;
  expect([arrival.method, await textOf(arrival), arrival.headers.get('x-a'), outcome?.effect]).toEqual(['POST', '{"amount":10}', 'b', 'done']);
});

/** Like an answer of node-fetch: its body is a stream of Node, and a copy stops after 128 kB unless the original is read as well. */
class PipedResponse extends Response {
  override get body(): never {
    return { pipe: () => {} } as never;
  }
  override clone(): never {
    throw new Error('this copy stops');
  }
}

test.for([false, true])(
  'an answer of node-fetch is read itself, not a copy, and its caller gets it anew (redirected: %s)',
  async (redirected, { world, tab }) => {
    const answer = Object.defineProperty(new PipedResponse('{"id":1}', { status: 201 }), 'redirected', { value: redirected });
    const fetch: typeof globalThis.fetch = async (...of) => {
      await tab.fetch(...of);
      return answer;
    };
    const { response, outcome } = await world.end(tab, pay(tab.once({ fetch })), answers(201));
    expect(outcome).toMatchObject(redirected ? { effect: 'unknown', reason: 'not-a-verdict' } : { type: 'fresh', attempts: 1 });
    if (redirected) return;
    expect(response).toBeInstanceOf(PipedResponse);
    expect(await response?.json()).toEqual({ id: 1 });
  },
);
