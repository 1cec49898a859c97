/**
 * Goal: the default dialect reads what libraries for servers answer (docs/servers.md, "By the library on the server"). Method: their answers, from their
 * source, after a lost answer and another payload.
 */
import { describe, expect, test } from 'vitest';
import type { AnswerKind } from '../../src/core/dialect.js';
import { readAnswer } from '../../src/core/verdict.js';
import { generic } from '../../src/entries/dialects.js';
import { ASKED, answerOf } from './support/fixtures.js';

type Row = readonly [what: string, status: number, body: unknown, headers: Record<string, string>, kind: AnswerKind];

const LIBRARIES: Readonly<Record<string, readonly Row[]>> = {
  'node-idempotency 1.0 in NestJS': [
    ['at work', 409, { statusCode: 409, message: 'A request is outstanding for this Idempotency-Key' }, { 'retry-after': '1' }, 'in-progress'],
    ['another payload', 422, { statusCode: 422, message: 'Idempotency-Key is already used' }, {}, 'mismatch'],
    ['a stored answer', 201, { id: 1 }, { 'idempotent-replayed': 'true' }, 'replayed'],
    ['a stored crash', 500, { statusCode: 500, message: 'Internal Server Error' }, { 'idempotent-replayed': 'true' }, 'burnt'],
  ],
  'hono-idempotency': [
    [
      'at work',
      409,
      {
        type: 'https://hono-idempotency.dev/errors/conflict',
        title: 'A request is outstanding for this idempotency key',
        status: 409,
        detail: 'A request with the same idempotency key is currently being processed',
        code: 'CONFLICT',
      },
      { 'retry-after': '1' },
      'in-progress',
    ],
    [
      'another payload',
      422,
      {
        type: 'https://hono-idempotency.dev/errors/fingerprint-mismatch',
        title: 'Idempotency-Key is already used with a different request',
        status: 422,
        detail: 'A request with the same idempotency key but different parameters was already processed',
        code: 'FINGERPRINT_MISMATCH',
      },
      {},
      'mismatch',
    ],
    ['a stored answer', 201, { id: 1 }, { 'idempotency-replayed': 'true' }, 'replayed'],
  ],
  'express-idempotency 1.0': [
    [
      'at work, with a JSON error handler',
      409,
      { error: 'A previous request is still in progress for this key.' },
      { 'idempotency-key': ASKED.key },
      'in-progress',
    ],
    [
      'at work, with the error page of Express',
      409,
      '<!DOCTYPE html>\n<pre>Error: A previous request is still in progress for this key.</pre>',
      { 'content-type': 'text/html', 'idempotency-key': ASKED.key },
      'in-progress',
    ],
  ],
  'IdempotentAPI 2.2': [
    [
      'at work, in a controller',
      409,
      { type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10', title: 'Conflict', status: 409, traceId: '00-1-2-00' },
      {},
      'in-progress',
    ],
    ['at work, in a minimal API', 409, undefined, {}, 'in-progress'],
  ],
  'idempo 1.4': [
    [
      'at work',
      429,
      { ok: false, error: { message: 'Another request with this idempotency key is still in progress, please try again later' } },
      { 'retry-after': '2' },
      'transient',
    ],
  ],
  'idempotency-laravel': [
    ['at work', 409, { error: 'A request with this Idempotency-Key is currently being processed' }, {}, 'in-progress'],
    ['another payload', 422, { error: 'Idempotency-Key reused with different request payload' }, {}, 'mismatch'],
    ['a stored answer', 201, { id: 1 }, { 'idempotency-key': ASKED.key, 'idempotency-status': 'Repeated' }, 'fresh'],
  ],
  'asgi-idempotency-header 0.2': [
    ['at work', 409, { detail: `Request already pending for idempotency key '${ASKED.key}'` }, {}, 'in-progress'],
    ['a stored answer', 201, { id: 1 }, { 'idempotent-replayed': 'true' }, 'replayed'],
  ],
  'django-idempotency-key 1.3': [['its lock was not free', 423, { error: 'Resource Locked (423)' }, {}, 'refused']],
};

describe.each(Object.entries(LIBRARIES))('%s', (_, rows) => {
  test.each(rows)('%s: %i', (_what, status, body, headers, kind) => {
    const answer = answerOf({ status, body, headers: { 'content-type': 'application/json', ...headers } });
    expect(readAnswer(answer, ASKED, generic(), true).kind).toBe(kind);
  });
});
