/**
 * Goal: a restarted service gets the stored answer of an operation that is done, and never a credential of an earlier caller. Method: real
 * processes, one after the other, on one SQLite file; a real server that counts charges and answers with several kinds of bodies.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOnce, memoryStore, outcomeOf } from '../../../src/entries/node.js';
import type { Store } from '../../../src/ports.js';
import { script } from '../../support/child.js';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-answers-'));
const BYTES = Uint8Array.from({ length: 256 }, (_, n) => n);
const BODIES: Readonly<Record<string, { readonly type: string; readonly body: Uint8Array | string; readonly status?: number }>> = {
  json: { type: 'application/json', body: '{"id":"ch_1"}', status: 201 },
  bytes: { type: 'application/pdf', body: BYTES },
  none: { type: '', body: '', status: 204 },
  long: { type: 'text/plain', body: 'x'.repeat(5000) },
};
let server: Server;
let worker: ReturnType<typeof script>;
let url = '';
let charges = 0;
let files = 0;
let path = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    charges++;
    const { type, body, status = 200 } = BODIES[(request.url ?? '').slice(1)] ?? { type: '', body: '' };
    const headers = { ...(type && { 'content-type': type }), 'set-cookie': 'sid=s3cret-cookie', 'x-auth-token': 's3cret-token', etag: '"1"' };
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  worker = script(join(import.meta.dirname, 'answers-worker.ts'));
});
beforeEach(() => {
  charges = 0;
  path = join(folder, `${files++}.db`);
});
afterAll(() => {
  server.close();
  worker.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function process(kind: string, options: object = {}, at = path) {
  const child = worker.start([at, `${url}/${kind}`, JSON.stringify(options)]);
  expect(await child.ended).toBe(0);
  return JSON.parse(child.lines[0] ?? '{}');
}

test.each(['json', 'bytes', 'none'])('the second process gets the answer of the first, and sends nothing: %s', async (kind) => {
  const first = await process(kind);
  const second = await process(kind);
  expect(second).toMatchObject({ status: first.status, body: first.body, outcome: { type: 'replayed', from: 'store', effect: 'done' } });
  expect(second.headers).toMatchObject({ etag: '"1"', ...(kind !== 'none' && { 'content-type': first.headers['content-type'] }) });
  expect(charges).toBe(1);
});

test('no credential in an answer is stored', async () => {
  expect((await process('json')).headers).toMatchObject({ 'set-cookie': 'sid=s3cret-cookie', 'x-auth-token': 's3cret-token' });
  expect(readFileSync(path).includes('s3cret')).toBe(false);
  expect((await process('json')).headers).not.toHaveProperty('set-cookie');
});

test('a body longer than limits.bodyBytes is not kept: the second process is told only that the operation is done', async () => {
  const limits = { limits: { bodyBytes: 4000 } };
  expect(await process('long', limits)).toMatchObject({ status: 200 });
  expect(await process('long', limits)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(charges).toBe(1);
});

test.each(['memory', false])('with keep.response: %j no answer is kept on disk', async (response) => {
  await process('json', { keep: { response } });
  expect(readFileSync(path).includes('ch_1')).toBe(false);
  expect(await process('json', { keep: { response } })).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
});

test('a store without room for the answer keeps the end of the operation without it', async () => {
  const memory = memoryStore();
  const full: Store['update'] = (id, change, options) =>
    memory.update(
      id,
      (current, now) => {
        const changed = change(current, now);
        if ((changed.next as { answer?: unknown } | null | undefined)?.answer) throw new Error('there is no room');
        return changed;
      },
      options,
    );
  const once = createOnce({ namespace: 'billing', store: { ...memory, survives: 'process', update: full } });
  const paid = await once.fetch(`${url}/json`, { method: 'POST', body: '{}', once: ['charge', 'o-1'] });
  expect(outcomeOf(paid)).toMatchObject({ type: 'fresh' });
  expect((await memory.scan({ before: Number.POSITIVE_INFINITY, limit: 9 })).records).toMatchObject([{ state: 'settled', answer: undefined }]);
});
