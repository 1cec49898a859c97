/**
 * Goal: a replay header that oncefetch does not know is in the dialect that the probe prints, and no other header is. Method: a server over real
 * HTTP with headers of its own on first answers and on replays.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/core/dialect.js';
import { defineDialect } from '../../src/dialects/define.js';
import { inHeader } from '../../src/dialects/key-location.js';
import { kindOf } from '../../src/probe/answers.js';
import type { ProbeFinding } from '../../src/probe/findings.js';
import { unknownMarker } from '../../src/probe/marker.js';
import { rowOf } from '../../src/probe/row.js';
import { type Answer, answer, send, textOf } from '../servers/support/http.js';
import { probed } from './support/probed.js';
import { MISMATCH, type Parts, startByParts } from './support/server-by-parts.js';

const made = (code: string): Dialect => new Function('defineDialect', 'inHeader', `return ${code}`)(defineDialect, inHeader) as Dialect;

/** A replay with these headers. */
const replay =
  (headers: Record<string, string> | (() => Record<string, string>)): Parts['again'] =>
  (stored, asked, first) =>
    asked.payload === first.payload ? { ...stored, headers: typeof headers === 'function' ? headers() : headers } : MISMATCH;

/** The code that the probe prints for a server. */
async function advised(parts: Partial<Parts>, counted = true): Promise<string> {
  await using server = await startByParts(parts);
  const { dialect } = await probed({
    url: () => `${server.origin}/payments`,
    send: ({ url, key, operation, payload, login }) =>
      login === 'own'
        ? fetch(url, { method: 'POST', headers: { 'idempotency-key': key, authorization: login }, body: JSON.stringify({ order: operation, payload }) })
        : undefined,
    ...(counted && { count: () => server.effects }),
  });
  return dialect?.code ?? '';
}

test.concurrent('a header that all replays have, and no first answer, is the marker of the printed dialect', async () => {
  const code = await advised({ again: replay({ 'X-Seen-Before': 'yes' }) });
  expect(code).toContain("  marker: { headers: { 'x-seen-before': 'yes' } },");
  const read = (headers: Record<string, string>) => kindOf({ status: 201, headers: new Headers(headers), text: '{"order":"o-1"}' }, made(code), 'k-1', true);
  expect(read({ 'X-Seen-Before': 'yes' })).toBe('replayed');
  expect(read({})).toBe('fresh');
});

test.concurrent('of two such headers, the one that speaks of keys', async () => {
  const code = await advised({ again: replay({ 'X-A': 'on', 'X-Key-Replay': "it's" }) });
  expect(code).toContain("marker: { headers: { 'x-key-replay': 'it\\'s' } },");
});

test.concurrent('a header that oncefetch knows needs no definition, whatever is beside it', async () => {
  expect(await advised({ again: replay({ 'Idempotent-Replayed': 'true', 'X-Seen-Before': 'yes' }) })).toBe('');
});

let turn = 0;
const NO_MARKER: Readonly<Record<string, [parts: Partial<Parts>, counted?: boolean]>> = {
  'a header of caches, transfer, limits and cookies': [
    {
      again: replay({
        age: '0',
        'x-cache': 'HIT',
        'x-cache-hits': '1',
        etag: '"a"',
        'content-language': 'en',
        'x-ratelimit-remaining': 'ten',
        'set-cookie': 'a=b',
        'x-request-id': 'same',
        'x-response-time': 'fast',
        'last-modified': 'Mon, 30 Nov 2026 09:09:22 GMT',
        'x-served-by': 'two',
      }),
    },
  ],
  'a number, a time and an id': [{ again: replay({ 'x-copy': '2', 'x-when': 'Mon, 30 Nov 2026 09:09:22 GMT', 'x-at': '2026-11-30', 'x-ref': 'deadbeef01' }) }],
  'another value each time': [{ again: replay(() => ({ 'x-seen-before': `yes ${String.fromCharCode(97 + (turn++ % 26))}` })) }],
  'a header that first answers have, too': [{ headers: { 'x-seen-before': 'no' }, again: replay({ 'x-seen-before': 'yes' }) }],
  'a header on another payload’s refusal, too': [
    {
      again: (stored, asked, first) =>
        asked.payload === first.payload ? { ...stored, headers: { 'x-known-key': 'yes' } } : { ...MISMATCH, headers: { 'x-known-key': 'yes' } },
    },
  ],
  'a header on copies while the work goes on': [
    { busy: () => answer(409, {}, { 'retry-after': '0', 'x-known-key': 'yes' }), again: replay({ 'x-known-key': 'yes' }) },
  ],
  'copies that double after a wait': [{ keepsMs: 50, again: replay({ 'X-Seen-Before': 'yes' }) }],
  'effects that nobody counts': [{ again: replay({ 'X-Seen-Before': 'yes' }) }, false],
};

test.concurrent.each(Object.entries(NO_MARKER))('no marker: %s', async (_, [parts, counted]) => expect(await advised(parts, counted)).not.toContain('marker'));

/** A server that does the work for every copy, and says of each that it is one. `effectOf`: whether a copy has an effect. */
async function startLiar(answerTo: (known: boolean, payload: string, effect: () => void) => Answer) {
  const keys = new Set<string>();
  const server = { effects: 0 };
  const http = createServer(async (from, to) => {
    const { payload = '' } = JSON.parse((await textOf(from)) || '{}') as Record<string, string>;
    const key = String(from.headers['idempotency-key']);
    const known = keys.has(key);
    keys.add(key);
    send(
      to,
      answerTo(known, payload, () => server.effects++),
    );
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return Object.assign(server, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/payments`,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => void http.close(() => closed()).closeAllConnections()),
  });
}

const ask = (url: string, key: string, order: string, payload: string) =>
  fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify({ order, payload }) });

test.concurrent('copies that double, each marked as seen: no marker', async () => {
  await using server = await startLiar((known, _, effect) => {
    effect();
    return answer(201, { id: 'a' }, known ? { 'x-seen-before': 'yes' } : {});
  });
  const { dialect } = await probed({
    url: () => server.url,
    send: ({ url, key, operation, payload, login }) => (payload === 'usual' && login === 'own' ? ask(url, key, operation, payload) : undefined),
    count: () => server.effects,
  });
  expect(dialect?.code).toBe(`'none'`);
});

test.concurrent('a copy that does the work after a fault is marked as seen, too: no marker', async () => {
  const code = await advised({
    again: replay({ 'x-seen-before': 'yes' }),
    // The first copy of this payload fails before the work.
    work: ({ payload, order }, effect) => {
      if (payload === 'refused') return answer(402, { code: 'card_declined' });
      effect();
      return answer(201, { order }, payload === 'fails-once' ? { 'x-seen-before': 'yes' } : {});
    },
  });
  expect(code).not.toContain('marker');
});

/** The marker, from answers with one that nobody else has, beside a row of changed payloads with this finding. */
function markerBeside(finding: ProbeFinding, { firsts = 2, copies = 2 } = {}) {
  const cameWith = (headers: Record<string, string>) => ({ status: 201, headers: new Headers(headers), text: '{}' });
  const seen = { own: Array.from({ length: firsts }, () => cameWith({})), copies: Array.from({ length: copies }, () => cameWith({ 'x-seen-before': 'yes' })) };
  return unknownMarker([rowOf('changed-after-fault', { answers: [], effects: undefined, finding })], seen, []);
}

test('a marker counts if no key had a second effect, and two answers of each kind agree', () => {
  expect(markerBeside('replays')).toEqual(['x-seen-before', 'yes']);
  expect([markerBeside('replays', { firsts: 1 }), markerBeside('replays', { copies: 1 })]).toEqual([undefined, undefined]);
});

// The dialect for copies that double is another one anyway, so only these rows need the marker's own guard: a changed payload that had an effect
// of its own, a proxy that sends requests twice, effects that nobody counted, and a first answer with a mark.
test.each(['doubles', 'sent-again', 'may-double', 'marked-first'] as const)('beside a row that %s, no header is a marker', (finding) =>
  expect(markerBeside(finding)).toBeUndefined(),
);
