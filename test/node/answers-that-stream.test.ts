/**
 * Goal: a streamed answer is handed over when its headers arrive, and a body that takes long never causes another attempt. A document
 * that was cut off does. Method: Node's own fetch, and a real server that writes bodies in parts.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { defineDialect, inHeader, square } from 'oncefetch/dialects';
import { createOnce, memoryStore, type OnceOptions, outcomeOf } from 'oncefetch/node';
import { afterAll, describe, expect, test } from 'vitest';

const ATTEMPT_MS = 800;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: (to: ServerResponse, request: number, body: string) => void) {
  let requests = 0;
  const server = createServer((from, to) => {
    let body = '';
    from.on('data', (chunk) => void (body += chunk));
    from.on('end', () => answer(to, ++requests, body));
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests: () => requests };
}

/** Writes the first part of a body at once, and the second part when the test calls `goOn`. */
function inParts(type: string | undefined, first = '1\n', more: { readonly end?: () => void } = {}) {
  const later: (() => void)[] = [];
  const answer = (to: ServerResponse): void => {
    to.writeHead(200, type === undefined ? {} : { 'content-type': type });
    to.write(first);
    later.push(more.end ?? (() => to.end('2\n')));
  };
  return { answer, goOn: () => later.splice(0).forEach((go) => void go()) };
}

const open = (options: OnceOptions = {}) =>
  createOnce({ namespace: 'ann', store: memoryStore(), retry: { minDelayMs: 1, maxDelayMs: 2 }, limits: { attemptMs: ATTEMPT_MS, totalMs: 5000 }, ...options });
const ask = (once: ReturnType<typeof createOnce>, url: string, init: RequestInit = {}) =>
  once.fetch(url, { method: 'POST', body: '{}', ...init, once: ['ask', 1] });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the caller gets a stream as soon as its headers arrive', { concurrent: true }, () => {
  test.each([
    'text/event-stream',
    'application/x-ndjson',
    'application/ndjson; charset=utf-8',
    'application/jsonl',
    'application/x-jsonlines',
    'application/json-seq',
    'application/geo+json-seq',
    'application/stream+json',
    'multipart/mixed; boundary="-"',
    'multipart/x-mixed-replace; boundary=frame',
    'application/vnd.amazon.eventstream',
    'video/mp4',
  ])('%s', async (type) => {
    const { answer, goOn } = inParts(type);
    const { url, requests } = await serve(answer);
    const response = await ask(open(), url);
    expect(outcomeOf(response)?.effect).toBe('done');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('1\n');
    await pause(1.5 * ATTEMPT_MS);
    goOn();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('2\n');
    expect(requests()).toBe(1);
  });
});

describe('a body that goes on, of a content type that need not be a stream', { concurrent: true }, () => {
  test.each(['text/plain', 'text/csv; charset=utf-8', 'application/octet-stream', 'image/png', undefined])(
    '%s: the caller gets it at once, and no other attempt is made',
    async (type) => {
      const { answer, goOn } = inParts(type);
      const { url, requests } = await serve(answer);
      const once = open();
      const calls = await Promise.all([ask(once, url), ask(once, url)]);
      expect(calls.map((response) => outcomeOf(response)?.effect)).toEqual(['done', 'done']);
      await pause(1.5 * ATTEMPT_MS);
      goOn();
      expect(await Promise.all(calls.map((response) => response.text()))).toEqual(['1\n2\n', '1\n2\n']);
      expect(requests()).toBe(1);
    },
  );

  test('an error in the body rejects the read, not the call', async () => {
    const { url, requests } = await serve((to) => {
      to.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' });
      to.write('half');
      setTimeout(() => to.destroy(), 1.5 * ATTEMPT_MS);
    });
    const response = await ask(open(), url);
    expect(outcomeOf(response)?.effect).toBe('done');
    await expect(response.text()).rejects.toThrow(TypeError);
    expect(requests()).toBe(1);
  });

  test('an abort by the caller also ends the body', async () => {
    const { url } = await serve(inParts('application/x-ndjson').answer);
    const controller = new AbortController();
    const response = await ask(open(), url, { signal: controller.signal });
    const reading = response.text();
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  test('a body that breaks before it is handed over causes another attempt', async () => {
    const { url, requests } = await serve((to, request) => {
      to.writeHead(200, { 'content-type': 'text/plain', 'content-length': '4' });
      if (request > 1) to.end('done');
      else to.write('do', () => to.destroy());
    });
    expect(await (await ask(open(), url)).text()).toBe('done');
    expect(requests()).toBe(2);
  });
});

describe('a document', { concurrent: true }, () => {
  test.each<[string | undefined, string]>([
    ['application/json', '{"id":'],
    ['application/problem+json', '{"id":'],
    ['application/xml', '<id>'],
    ['text/plain', ' {"id":'],
    [undefined, '[1,'],
  ])('%s that stalls causes another attempt', async (type, first) => {
    const { url, requests } = await serve((to, request) => {
      to.writeHead(201, type === undefined ? {} : { 'content-type': type });
      if (request > 1) to.end('{"id":1}');
      else to.write(first);
    });
    expect(await (await ask(open(), url)).text()).toBe('{"id":1}');
    expect(requests()).toBe(2);
  });

  const declined = JSON.stringify({ id: 'p-1', status: 'declined', reasons: Array.from({ length: 2000 }, (_, n) => n) });
  const whole = { 'content-type': 'application/json' };

  test.each<[string, (to: ServerResponse) => void]>([
    ['whose server died behind a gateway that ended the message', (to) => to.writeHead(200, whole).end(declined.slice(0, 20))],
    ['that ends with its connection', (to) => to.writeHead(200, { ...whole, connection: 'close', 'transfer-encoding': '' }).end(declined.slice(0, 20))],
    ['that was compressed', (to) => to.writeHead(200, { ...whole, 'content-encoding': 'gzip' }).end(gzipSync(declined).subarray(0, -40))],
  ])('%s is no answer if it was cut off: the decline in it does not settle as done', async (_, cut) => {
    const { url, requests } = await serve((to, request) => (request > 1 ? to.writeHead(200, whole).end(declined) : cut(to)));
    const once = open({ verdict: ({ json }) => ((json as { status?: string } | undefined)?.status === 'declined' ? 'rejected-for-good' : undefined) });
    expect(outcomeOf(await ask(once, url))?.effect).toBe('none');
    expect(requests()).toBe(2);
  });

  test.each([
    ['a decline', 'declined', 'none'],
    ['a payment', 'paid', 'done'],
  ])('without a byte, from a server that declines in the body, causes further attempts until it is %s', async (_, status, effect) => {
    const { url, requests } = await serve((to, request) => to.writeHead(200, whole).end(request > 2 ? JSON.stringify({ status }) : ''));
    const answers = [{ status: 200, at: { status: 'declined' }, means: 'refused', sticky: true }] as const;
    const once = open({ dialect: defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), answers }) });
    expect([outcomeOf(await ask(once, url))?.effect, requests()]).toEqual([effect, 3]);
  });

  test.each(['{"status":"fai', ''])('behind the link of a 202, cut off to %j, is polled again', async (cut) => {
    const { url, requests } = await serve((to, request) => {
      if (request === 1) to.writeHead(202, { location: '/status', 'retry-after': '0' }).end();
      else to.writeHead(200, whole).end(request === 2 ? cut : '{"status":"failed"}');
    });
    const response = await open().fetch(url, { method: 'POST', body: '{}', once: { operation: ['ask', 1], accepted: 'poll' } });
    expect([outcomeOf(response)?.effect, requests()]).toEqual(['none', 3]);
  });

  test('that is not JSON, although its content type says so, still counts as an answer', async () => {
    for (const body of ['OK', '{"amount":NaN}', '', "{'a':1} ", '{"ok":true}0', '[1]<br>']) {
      const { url, requests } = await serve((to) => to.writeHead(201, whole).end(body));
      expect([outcomeOf(await ask(open(), url))?.effect, requests()]).toEqual(['done', 1]);
    }
  });

  test('that comes slowly but in time is waited for and kept', async () => {
    const { url, requests } = await serve((to) => {
      to.writeHead(201, { 'content-type': 'application/json' });
      to.write('{"id":');
      setTimeout(() => to.end('1}'), 2 * ATTEMPT_MS + 50);
    });
    const once = open({ limits: { attemptMs: 4 * ATTEMPT_MS } });
    expect(await (await ask(once, url)).text()).toBe('{"id":1}');
    expect(await (await ask(once, url)).text()).toBe('{"id":1}');
    expect(requests()).toBe(1);
  });
});

describe('a content-length from the caller', { concurrent: true }, () => {
  const echo = () => serve((to, _, body) => void to.end(body));

  test.each([
    ['of nothing', undefined, ''],
    ['of text', '{"a":1}', '{"a":1}'],
  ])('0, with a body %s, does not replace the real length', async (_, body, arrives) => {
    const { url } = await echo();
    const response = await ask(open(), url, { body: body ?? null, headers: { 'content-length': '0' } });
    expect(await response.text()).toBe(arrives);
  });

  test('does not apply to a body into which the dialect has put the key', async () => {
    const { url } = await echo();
    const body = '{"a":1}';
    const response = await ask(open({ dialect: square() }), url, {
      body,
      headers: { 'content-length': String(body.length), 'content-type': 'application/json' },
    });
    expect(await response.json()).toEqual({ a: 1, idempotency_key: expect.any(String) });
  });
});

describe('one signal of a whole process, which a service gives to each of its calls', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  /** Collects garbage in several turns, because finalizers run in a later turn than the collection. */
  const collected = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) {
      collect();
      await pause(20);
    }
  };
  const MB = 1_000_000;
  const heldMB = (): number => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return (heapUsed + arrayBuffers) / MB;
  };

  test('holds no request whose answer was read to its end', async () => {
    const { url } = await serve((to) => to.writeHead(200, { 'content-type': 'text/event-stream' }).end('1\n'));
    const stop = new AbortController();
    const once = open();
    const body = 'x'.repeat(MB);
    const ask = async (n: number) => (await once.fetch(url, { method: 'POST', body: `${n}${body}`, signal: stop.signal, once: ['read', n] })).text();
    for (let n = 0; n < 5; n++) await ask(n);
    await collected();
    const before = heldMB();
    for (let n = 5; n < 45; n++) await ask(n);
    await collected();
    expect(heldMB() - before).toBeLessThan(20);
  });

  test('still ends an answer that is being read, even if nobody holds its Response any more', async () => {
    const { answer } = inParts('text/event-stream');
    const { url } = await serve(answer);
    const stop = new AbortController();
    const readerOf = async () => ((await ask(open(), url, { signal: stop.signal })).body as ReadableStream<Uint8Array>).getReader();
    const reader = await readerOf();
    await reader.read();
    const rest = reader.read().catch((error: unknown) => error);
    await collected();
    stop.abort(new Error('the process ends'));
    expect(await rest).toMatchObject({ message: 'the process ends' });
  });
});
