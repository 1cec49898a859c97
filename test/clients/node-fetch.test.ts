/**
 * Goal: with node-fetch as the option `fetch`, requests and outcomes are the same as with the platform's fetch,
 * although its bodies are streams of Node and it has its own Blob and FormData. Method: the real package against a real
 * server.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import nodeFetch, { File, FormData, Blob as NodeFetchBlob } from 'node-fetch';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOnce, memoryStore, type OnceRequestInit, outcomeOf, run } from '../../src/entries/node.js';

let server: Server;
let url: string;
/** The bodies that arrived. */
let bodies: string[];
/** The answers, in order; the last one is repeated. */
let answers: (readonly [status: number, body: string])[];

beforeEach(async () => {
  [bodies, answers] = [[], [[200, '{}']]];
  server = createServer(async (request, response) => {
    bodies.push(await text(request));
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) as readonly [number, string];
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => void server.close());

const fetch = nodeFetch as unknown as typeof globalThis.fetch;
const client = () => createOnce({ store: memoryStore(), fetch, retry: { minDelayMs: 1, maxDelayMs: 2 } });
const ended = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

test('an answer of 300 kB counts as done at the first attempt, and its caller reads all of it', async () => {
  const long = JSON.stringify({ text: 'x'.repeat(300_000) });
  answers = [[201, long]];
  const answer = await client().fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] });
  expect(outcomeOf(answer)).toMatchObject({ type: 'fresh', attempts: 1 });
  expect(await answer.text()).toBe(long);
});

test('a file in its FormData is sent with its content, even when a PUT without a name is sent again', async () => {
  answers = [
    [503, ''],
    [200, '{}'],
  ];
  const body = new FormData();
  body.append('scan', new File(['the scan'], 'scan.txt'));
  const init = { method: 'PUT', body } as unknown as OnceRequestInit;
  await client().fetch(url, init);
  await client().fetch(url, { ...init, once: ['upload', 1] });
  expect(bodies).toEqual(Array(3).fill(expect.stringContaining('the scan')));
});

test('two of its Blobs with different contents are two payloads: the second, which was not sent, does not get the answer to the first', async () => {
  const once = client();
  const put = (content: string) =>
    ended(once.fetch(url, { method: 'PUT', body: new NodeFetchBlob([content]), once: ['put', 1] } as unknown as OnceRequestInit));
  expect(await put('one')).toMatchObject({ status: 200 });
  expect(await put('two')).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  expect(bodies).toEqual(['one']);
});

test('a refusal that a function given to `run` returns is recognised', async () => {
  answers = [[402, '{"code":"card_declined"}']];
  const refused = await run(client(), ['pay', 1], () => fetch(url, { method: 'POST', body: '{}' }));
  expect([outcomeOf(refused)?.effect, await refused.json()]).toEqual(['none', { code: 'card_declined' }]);
});
