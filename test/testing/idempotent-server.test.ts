/** Goal: in a user's test, the server does what its options say. Method: plain fetch over msw/node. `faults.test.ts` has the faults. */
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterEach, describe, expect, test } from 'vitest';
import { type IdempotentServerOptions, idempotentServer } from '../../src/testing/idempotent-server.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';

let network: ReturnType<typeof setupServer> | undefined;
afterEach(() => network?.close());

function listen<Body>(options: Partial<IdempotentServerOptions<Body>> = {}) {
  const server = idempotentServer({ url: '/api/payments', ...options });
  network = setupServer(...server.handlers(http));
  network.listen({ onUnhandledFrame: 'error' });
  return server;
}
const pay = (key: string | undefined, body: unknown = { amount: 42 }, init: RequestInit = {}) =>
  fetch('http://shop.example/api/payments', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
    ...init,
  });

describe('which requests it answers', () => {
  test('a path matches on every origin; POST, PUT, PATCH and DELETE are effects', async () => {
    const server = listen();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await fetch(`https://${method}.example/api/payments`, { method, headers: { 'Idempotency-Key': method } })).status).toBe(201);
    }
    expect(server.effects.map(({ key }) => key)).toEqual(['POST', 'PUT', 'PATCH', 'DELETE']);
  });

  test('a full URL matches only itself, and a GET is left to other handlers', async () => {
    const server = listen({ url: 'http://shop.example/api/payments' });
    network!.use(http.all('*', () => new HttpResponse(null, { status: 418 })));
    network!.use(...server.handlers(http));
    expect((await pay('k1')).status).toBe(201);
    expect((await fetch('http://other.example/api/payments', { method: 'POST' })).status).toBe(418);
    expect((await fetch('http://shop.example/api/payments')).status).toBe(418);
  });
});

describe('what it records', () => {
  test('each effect with key, body and time, and each request with key, headers, fate and status', async () => {
    const server = listen({ clock: { now: () => 77, timer: () => () => {} } });
    server.faults.next('none', 'lose-request');
    await pay('k1', { amount: 42 }, { headers: { 'Idempotency-Key': 'k1', 'X-Lane': 'a' } });
    await pay('k1').catch(() => {});
    expect(server.effects).toEqual([{ key: 'k1', body: { amount: 42 }, at: 77 }]);
    expect(server.effectsOf('k1')).toHaveLength(1);
    expect(server.effectsOf('k2')).toEqual([]);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: 'http://shop.example/api/payments',
        key: 'k1',
        body: '{"amount":42}',
        at: 77,
        fate: 'none',
        status: 201,
        headers: { 'x-lane': 'a' },
      },
      { key: 'k1', fate: 'lose-request', status: undefined },
    ]);
  });

  test('reset forgets effects, requests, keys and faults, and ends requests that hang', async () => {
    const server = listen();
    await pay('k1');
    server.faults.next('hang', 'unavailable');
    const hanging = expect(pay('k2')).rejects.toThrow();
    await expect.poll(() => server.requests.length).toBe(2);
    server.reset();
    await hanging;
    expect([server.effects, server.requests]).toEqual([[], []]);
    expect((await pay('k1')).headers.has('Idempotent-Replayed')).toBe(false);
  });
});

test('a request that is in flight at a reset has no effect in the next test', async () => {
  const clock = virtualClock();
  const server = listen({ clock });
  server.faults.next('delay-request');
  const late = expect(pay('k1')).rejects.toThrow(TypeError);
  await expect.poll(() => server.requests.length).toBe(1);
  server.reset();
  await clock.advance(1000);
  await late;
  expect([server.effects, server.requests]).toEqual([[], []]);
});

describe('what can be set', () => {
  test('the headers of key and replay', async () => {
    const server = listen({ keyHeader: 'X-Request-Id', replayHeader: 'X-Replay' });
    const init = { headers: { 'X-Request-Id': 'r1' } };
    await pay(undefined, {}, init);
    expect((await pay(undefined, {}, init)).headers.get('X-Replay')).toBe('true');
    expect(server.effectsOf('r1')).toHaveLength(1);
  });

  test('a refusal: its Response is the answer, and is replayed or forgotten as `rememberRefusals` says', async () => {
    const refuse = (body: { card: string }) => (body.card === 'bad' ? HttpResponse.json({ code: 'declined' }, { status: 402 }) : undefined);
    const remembering = listen({ refuse });
    const first = await pay('k1', { card: 'bad' });
    expect([first.status, await first.json(), first.headers.has('Idempotent-Replayed')]).toEqual([402, { code: 'declined' }, false]);
    expect((await pay('k1', { card: 'bad' })).headers.get('Idempotent-Replayed')).toBe('true');
    expect((await pay('k1', { card: 'good' })).status).toBe(422);
    expect(remembering.effects).toEqual([]);

    network!.close();
    const forgetting = listen({ refuse, rememberRefusals: false });
    expect((await pay('k1', { card: 'bad' })).status).toBe(402);
    expect((await pay('k1', { card: 'good' })).status).toBe(201);
    expect(forgetting.effects).toHaveLength(1);
  });

  test('the effect: JSON becomes a 201, and a Response is taken as it is, even an empty one', async () => {
    const answers: unknown[] = [{ id: 9 }, new Response(null, { status: 204, headers: { 'X-Charge': '7' } })];
    listen({ effect: () => answers.shift() });
    const json = await pay('k1');
    expect([json.status, json.headers.get('content-type'), await json.json()]).toEqual([201, 'application/json', { id: 9 }]);
    await pay('k2');
    const replay = await pay('k2');
    expect([replay.status, replay.headers.get('X-Charge'), replay.headers.get('Idempotent-Replayed'), await replay.text()]).toEqual([204, '7', 'true', '']);
  });

  test('without `effect`, each effect has its own id, even if two requests arrive at once', async () => {
    const server = listen();
    const answers = await Promise.all([pay(undefined), pay(undefined), pay('k1')]);
    const bodies = await Promise.all(answers.map((answer) => answer.json()));
    expect(bodies.map(({ id }) => id).sort()).toEqual(['effect-1', 'effect-2', 'effect-3']);
    expect(server.effects).toHaveLength(3);
  });

  test('the key window, the time of the work and its Retry-After, on the clock of the caller', async () => {
    const clock = virtualClock({ start: 1_000 });
    const server = listen({ window: 100, workMs: 5, retryAfter: 0, clock });
    const executed = async () => {
      const answer = pay('k1');
      await expect.poll(() => clock.pending).toBe(1);
      const second = await pay('k1');
      expect([second.status, second.headers.get('retry-after')]).toEqual([409, '0']);
      await clock.advance(5);
      expect((await answer).headers.has('Idempotent-Replayed')).toBe(false);
    };
    await executed();
    await clock.advance(94);
    expect((await pay('k1')).headers.get('Idempotent-Replayed')).toBe('true');
    await clock.advance(1);
    await executed();
    expect(server.effects.map(({ at }) => at)).toEqual([1_005, 1_105]);
  });

  test('a required key: a request without one gets a 400 and has no effect', async () => {
    const server = listen({ requireKey: true });
    expect((await pay(undefined)).status).toBe(400);
    expect(server.effects).toEqual([]);
  });

  test('a restart in mid-work: the client sees a network error, and the next attempt takes the key over', async () => {
    const clock = virtualClock({ start: 1_000 });
    const server = listen({ workMs: 20, clock });
    const first = expect(pay('k1')).rejects.toThrow();
    await expect.poll(() => clock.pending).toBe(1);
    server.restart();
    const second = pay('k1');
    await expect.poll(() => clock.pending).toBe(2);
    await clock.advance(20);
    await first;
    expect((await second).status).toBe(201);
    expect(server.effects).toHaveLength(1);
  });
});

test('a call of `server.fetch` whose signal was aborted before sends nothing, like that of fetch', async () => {
  const server = listen();
  for (const send of [fetch, server.fetch]) {
    const sent = send('http://shop.example/api/payments', { method: 'POST', signal: AbortSignal.abort() });
    await expect(sent).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  }
  await pay('k1');
  expect(server.requests.map(({ key }) => key)).toEqual(['k1']);
});

test('two binary bodies are two payloads, and the same bytes again are the same payload', async () => {
  const server = listen();
  const send = (...bytes: number[]) => pay('k1', undefined, { body: new Uint8Array(bytes) });
  await send(0xff, 1);
  expect((await send(0xfe, 1)).status).toBe(422);
  expect((await send(0xff, 1)).headers.get('idempotent-replayed')).toBe('true');
  expect(server.effects).toHaveLength(1);
});

test('a binary answer arrives unchanged, and so does its replay', async () => {
  listen({ effect: () => new Response(new Uint8Array([0xff, 1])) });
  for (let copy = 0; copy < 2; copy++) expect([...new Uint8Array(await (await pay('k1')).arrayBuffer())]).toEqual([0xff, 1]);
});

test.each([
  ['/api/payments', 'string'],
  [undefined, 'undefined'],
  [null, 'null'],
])('takes an object, and names what it got instead: %s', (given, got) => {
  network = undefined;
  expect(() => idempotentServer(given as never)).toThrow(new TypeError(`idempotentServer: its options must be an object, got ${got}`));
});

test.each([
  [{}, 'undefined'],
  [{ url: /payments/ }, 'object'],
])('takes its url as text, and names what it got instead: %o', (given, got) => {
  network = undefined;
  expect(() => idempotentServer(given as never)).toThrow(new TypeError(`idempotentServer: url must be a string, got ${got}`));
});

test('handlers() without the http of msw says what it takes', () => {
  network = undefined;
  expect(() => idempotentServer({ url: '/api/payments' }).handlers(undefined as never)).toThrow(
    'idempotentServer: handlers takes the http of msw, got undefined',
  );
});

test.each([
  ['requireKeys, with which a request without a key would pass', { requireKeys: true }],
  ['refuses, with which nothing would be refused', { refuses: () => new Response(null, { status: 402 }) }],
])('a misspelled option is named: %s', (said, options) => {
  network = undefined;
  expect(() => listen(options as object)).toThrow(new TypeError(`idempotentServer: there is no option ${said.split(',')[0]}`));
});
