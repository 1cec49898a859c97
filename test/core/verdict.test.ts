/**
 * Goal: an answer is read as docs/verdicts.md says, with the words that real servers use; the first rule that fits counts.
 * Method: a table of answers, read clean and after ambiguity; all statuses; garbage, which never throws.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Answer, AnswerKind, Asked, Dialect } from '../../src/core/dialect.js';
import { readAnswer, readPoll } from '../../src/core/verdict.js';
import { READING_OF_VERDICT, type Verdict } from '../../src/core/verdict-words.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { text } from '../support/arbitraries.js';

const POLL = { method: 'GET', key: 'k', refusesHtml: true, otherPayloads: false };
const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324';

interface Given {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly type?: string;
  readonly redirected?: boolean;
}

function answer({ status, json, text: plain, headers = {}, type = 'default', redirected = false }: Given): Answer {
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status, type, redirected, header: (name) => own[name.toLowerCase()] ?? null, text: plain ?? (json === undefined ? '' : JSON.stringify(json)), json };
}

interface How extends Partial<Asked> {
  readonly dialect?: Dialect;
  readonly ambiguous?: boolean;
}

const read = (given: Given, { dialect = GENERIC, ambiguous = false, ...asked }: How = {}) =>
  readAnswer(answer(given), { method: 'POST', key: KEY, refusesHtml: true, otherPayloads: true, ...asked }, dialect, ambiguous);

describe('every status without a body', () => {
  const KINDS: [string, number[], AnswerKind, boolean][] = [
    ['a success', [200, 201, 203, 204, 205, 206, 207, 226, 299], 'fresh', false],
    ['a redirect that was not followed, or no HTTP status', [0, 300, 301, 302, 303, 304, 305, 307, 308, 399], 'not-a-verdict', true],
    ['a gateway or a server in trouble', [500, 502, 503, 504, 506, 507, 508, 510, 511, 520, 524, 599, 408, 460, 499], 'transient', true],
    ['a request to come back (too early, too many requests, misdirected)', [425, 429, 421], 'transient', false],
    ['work in progress', [409, 423], 'in-progress', true],
    [
      'a refusal',
      [400, 401, 402, 403, 404, 405, 406, 407, 410, 411, 412, 413, 414, 415, 416, 417, 418, 422, 424, 426, 428, 431, 451, 498, 501, 505],
      'refused',
      false,
    ],
  ];
  test.each(KINDS.flatMap(([what, statuses, kind, ambiguous]) => statuses.map((status) => [status, what, kind, ambiguous] as const)))(
    '%i is %s',
    (status, _, kind, ambiguous) => {
      expect(read({ status })).toMatchObject({ kind, ambiguous });
    },
  );

  test('only a 2xx is read as fresh, and only a 4xx or 5xx as refused', () => {
    for (let status = 0; status < 1000; status++) {
      const { kind } = read({ status });
      if (kind === 'fresh') expect(Math.floor(status / 100)).toBe(2);
      if (kind === 'refused') expect([4, 5]).toContain(Math.floor(status / 100));
    }
  });

  test.each([101, 102, 103, 199])('a bare %i counts as no answer, so that the request is sent again', (status) => {
    expect(read({ status })).toMatchObject({ kind: 'no-answer', ambiguous: true });
  });
});

const REUSED = { title: 'Idempotency-Key was reused with a different payload' };

test.each<[string, Given, How, object]>([
  ['a 429 that speaks of a duplicate request is work in progress', { status: 429, json: { message: 'Duplicate request' } }, {}, { kind: 'in-progress' }],
  [
    'a mismatch under a new key is a refusal from in front: somebody else sent a copy first',
    { status: 422, json: REUSED },
    { otherPayloads: false },
    { kind: 'refused', from: 'in-front' },
  ],
  [
    'a marked mismatch is a stored refusal',
    { status: 422, json: REUSED, headers: { 'idempotent-replayed': 'true' } },
    {},
    { kind: 'refused', sticky: true, replayed: true },
  ],
  [
    'a status that usually comes from in front is of the application if a header echoes the key',
    { status: 404, headers: { 'idempotency-key': KEY } },
    {},
    { from: 'application' },
  ],
  [
    'an answer that echoes the key but speaks of idempotency is not certainly of the application: it may refuse the key',
    { status: 417, headers: { 'idempotency-key': KEY }, json: { error: 'Misuse of the idempotency key' }, text: '{"error":"Misuse of the idempotency key"}' },
    {},
    { kind: 'refused', from: undefined },
  ],
  ['a header that echoes another key proves nothing', { status: 404, headers: { 'idempotency-key': 'another-key' } }, {}, { from: 'in-front' }],
  ['a 204 to a repeated DELETE took effect', { status: 204 }, { method: 'DELETE', ambiguous: true }, { kind: 'fresh' }],
  ['a 403 to a repeated DELETE is refused', { status: 403 }, { method: 'DELETE', ambiguous: true }, { kind: 'refused' }],
])('%s', (_, given, how, reading) => expect(read(given, how)).toMatchObject(reading));

describe('after ambiguity', () => {
  test.each([404, 410])('a %i to a DELETE is open: only a 2xx proves that it took effect', (status) => {
    expect(read({ status }, { ambiguous: true, method: 'DELETE' })).toMatchObject({ kind: 'open', ambiguous: true });
    expect(read({ status }, { ambiguous: false, method: 'DELETE' }).kind).toBe('refused');
    for (const method of ['POST', 'PUT', 'PATCH']) expect(read({ status }, { ambiguous: true, method }).kind).toBe('refused');
  });

  test('a 412 is open', () => {
    for (const method of ['POST', 'PUT', 'DELETE']) expect(read({ status: 412 }, { ambiguous: true, method })).toMatchObject({ kind: 'open', ambiguous: true });
  });

  test('no other status of a POST is read differently', () => {
    for (let status = 0; status < 600; status++) if (status !== 412 && status !== 202) expect(read({ status }, { ambiguous: true })).toEqual(read({ status }));
  });

  test('a 202 is work in progress', () => {
    expect(read({ status: 202 }, { ambiguous: true }).kind).toBe('in-progress');
    expect(read({ status: 202 }, { ambiguous: true, dialect: { ...GENERIC, replays: true } }).kind).toBe('in-progress');
  });
});

describe('replay markers', () => {
  /** Markers that real servers and common middlewares send. */
  const TRUE: [string, string][] = [
    ['Idempotent-Replayed', 'true'],
    ['Idempotency-Replayed', 'true'],
    ['X-Idempotent-Replay', 'true'],
    ['X-Idempotency-Replay', 'true'],
    ['X-Idempotent-Replayed', 'true'],
    ['X-Idempotency-Replayed', 'true'],
    ['Idempotent-Replay', 'true'],
    ['Idempotency-Replay', 'true'],
    ['X-Idempotency-Cache-Hit', 'true'],
    ['Request-Idempotency', 'true'],
    ['X-Idempotency-Status', 'completed'],
    ['X-Idempotency-Status', 'replayed'],
    ['Idempotency-Status', 'replayed'],
    ['Idempotent-Replayed', 'TRUE'],
    ['Idempotent-Replayed', ' true '],
    ['Idempotent-Replayed', '?1'],
    ['Idempotent-Replayed', '1'],
    ['Idempotent-Replayed', 'yes'],
  ];
  test.each(TRUE)('%s: %s marks a replay, which is done, rejected for good, or burnt, depending on its status', (name, value) => {
    const headers = { [name]: value };
    for (const status of [200, 201, 202, 204, 303]) expect(read({ status, headers })).toMatchObject({ kind: 'replayed' });
    for (const status of [400, 401, 402, 409, 422, 425, 429])
      expect(read({ status, headers })).toMatchObject({ kind: 'refused', ambiguous: false, sticky: true, replayed: true });
    // A replayed 5xx, 408, 460 or 499 is as ambiguous as the original one.
    for (const status of [408, 460, 499, 500, 501, 502, 503, 504, 505]) expect(read({ status, headers })).toMatchObject({ kind: 'burnt', ambiguous: true });
  });

  test.each<[string, AnswerKind, object]>([
    ['speaks of a request, but not of work', 'refused', { message: 'The request was refused.' }],
    ['repeats the key, and speaks of work', 'in-progress', { message: 'Still processing.', idempotencyKey: KEY }],
    ['repeats the key, and says that it is busy', 'in-progress', { message: 'It is locked.', idempotencyKey: KEY }],
    ['repeats the key only', 'refused', { message: 'The order was declined.', idempotencyKey: KEY }],
  ])('a marked conflict that %s is read as %s', (_, kind, json) => {
    expect(read({ status: 409, json, headers: { 'Idempotent-Replayed': 'true' } }).kind).toBe(kind);
  });

  test.each([
    ['Idempotent-Replayed', 'false'],
    ['Idempotent-Replayed', '0'],
    ['Idempotent-Replayed', '?0'],
    ['Idempotent-Replayed', ''],
    ['Idempotent-Replayed', 'no'],
    ['Idempotent-Replayed', 'untrue'],
    ['X-Idempotency-Status', 'waiting_response'],
    ['X-Idempotency-Status', 'processed'],
    ['Idempotency-Status', 'created'],
    ['Idempotency-Key', KEY],
    ['Repeatability-Result', 'accepted'],
  ])('%s: %s marks no replay', (name, value) => {
    const headers = { [name]: value };
    expect(read({ status: 201, headers }).kind).toBe('fresh');
    const refusal = read({ status: 402, headers });
    expect([refusal.kind, refusal.sticky]).toEqual(['refused', undefined]);
  });

  test('random text marks a replay only if it means true, and never throws', () => {
    fc.assert(
      fc.property(text(0, 20), (value) => {
        const { kind } = read({ status: 201, headers: { 'idempotent-replayed': value } });
        expect(kind).toBe(/^\s*\??(true|1|yes)\s*$/i.test(value) ? 'replayed' : 'fresh');
      }),
    );
  });
});

test.each<[Verdict, object]>([
  ['fresh', { kind: 'fresh', ambiguous: false }],
  ['replayed', { kind: 'replayed', ambiguous: false }],
  ['rejected', { kind: 'refused', ambiguous: false, from: 'application' }],
  ['rejected-for-good', { kind: 'refused', ambiguous: false, from: 'application', sticky: true }],
  ['not-sent', { kind: 'not-sent', ambiguous: false }],
  ['ambiguous', { kind: 'no-answer', ambiguous: true }],
  ['in-progress', { kind: 'in-progress', ambiguous: true }],
  ['transient', { kind: 'transient', ambiguous: true }],
])('the verdict %s of a hook is read as %j', (word, reading) => expect(READING_OF_VERDICT[word]).toEqual(reading));

describe('no verdict', () => {
  test.each<[string, Given]>([
    ['an opaque answer', { status: 0, type: 'opaque' }],
    ['an opaque redirect', { status: 0, type: 'opaqueredirect' }],
    ['an error response', { status: 0, type: 'error' }],
    ['a followed redirect', { status: 200, redirected: true }],
    ['a followed redirect to a refusal', { status: 401, redirected: true }],
    ['a followed redirect with a replay marker', { status: 200, redirected: true, headers: { 'idempotent-replayed': 'true' } }],
    ['a 304 with a replay marker', { status: 304, headers: { 'idempotent-replayed': 'true' } }],
    ['HTML, if the request refuses it', { status: 200, headers: { 'content-type': 'text/html' } }],
    ['gRPC-web, whose errors are in the trailers', { status: 200, headers: { 'content-type': 'application/grpc-web+proto' } }],
    ['a stream of Connect, whose errors are at its end', { status: 200, headers: { 'content-type': 'application/connect+json' } }],
    [
      'a stream of tRPC, whose errors are in later lines',
      { status: 200, headers: { 'content-type': 'application/json' }, text: '{"json":{"0":[[0],[null,0,0]]}}\n[0,0,[[{}]]]\n' },
    ],
    ['XHTML, if the request refuses it', { status: 200, headers: { 'content-type': 'application/xhtml+xml; charset=utf-8' } }],
  ])('%s', (_, given) => expect(read(given)).toMatchObject({ kind: 'not-a-verdict', ambiguous: true }));

  test('HTML is no verdict only in a 2xx, and only if the request refuses it', () => {
    const headers = { 'content-type': 'text/html' };
    expect(read({ status: 200, headers }, { refusesHtml: false, otherPayloads: false }).kind).toBe('fresh');
    expect(read({ status: 502, headers }).kind).toBe('transient');
    expect(read({ status: 403, headers }).kind).toBe('refused');
    expect(read({ status: 409, headers }).kind).toBe('in-progress');
    expect(read({ status: 300, headers: { ...headers, 'idempotent-replayed': 'true' } }).kind).toBe('replayed');
  });

  test.each([0, 1, 99])('a status of %i', (status) => expect(read({ status }).kind).toBe('not-a-verdict'));
});

/** Answers of real servers: from a run, from their source or SDK, or from the vendor's page. */
const SERVERS: [server: string, given: Given, kind: AnswerKind][] = [
  [
    'IETF draft-07: outstanding',
    {
      status: 409,
      json: {
        type: 'https://developer.example.com/idempotency',
        title: 'A request is outstanding for this Idempotency-Key',
        detail: 'A request with the same Idempotency-Key for the same operation is being processed or is outstanding.',
      },
    },
    'in-progress',
  ],
  [
    'IETF draft-07: key used',
    {
      status: 422,
      json: {
        type: 'https://developer.example.com/idempotency',
        title: 'Idempotency-Key is already used',
        detail:
          'This operation is idempotent and it requires correct usage of Idempotency Key. Idempotency Key MUST not be reused across different payloads of this operation.',
      },
    },
    'mismatch',
  ],
  [
    'IETF draft-07: key missing',
    {
      status: 400,
      json: {
        type: 'https://developer.example.com/idempotency',
        title: 'Idempotency-Key is missing',
        detail: 'This operation is idempotent and it requires correct usage of Idempotency Key.',
      },
    },
    'refused',
  ],
  [
    'Stripe v1: in use',
    {
      status: 409,
      json: {
        error: {
          code: 'idempotency_key_in_use',
          type: 'invalid_request_error',
          message: 'There is currently another in-progress request using this Idempotent Key.',
        },
      },
    },
    'in-progress',
  ],
  [
    'Stripe v1: mismatch',
    {
      status: 400,
      json: {
        error: {
          type: 'idempotency_error',
          message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${KEY}' if you meant to execute a different request.`,
        },
      },
    },
    'mismatch',
  ],
  ['Stripe v1: card declined', { status: 402, json: { error: { type: 'card_error', code: 'card_declined' } } }, 'refused'],
  ['Stripe v1: retry', { status: 409, json: { error: { code: 'lock_timeout' } }, headers: { 'stripe-should-retry': 'true' } }, 'transient'],
  ['Stripe v1: do not retry', { status: 500, json: { error: { type: 'api_error' } }, headers: { 'stripe-should-retry': 'false' } }, 'burnt'],
  [
    'PayPal payments v2',
    {
      status: 409,
      json: {
        name: 'RESOURCE_CONFLICT',
        message: 'The server has detected a conflict while processing this request.',
        details: [{ issue: 'PREVIOUS_REQUEST_IN_PROGRESS', description: 'A previous request on this resource is currently in progress.' }],
      },
    },
    'in-progress',
  ],
  [
    'Square',
    {
      status: 400,
      json: {
        errors: [
          {
            category: 'INVALID_REQUEST_ERROR',
            code: 'IDEMPOTENCY_KEY_REUSED',
            detail: 'The idempotency key can only be retried with the same request data.',
            field: 'idempotency_key',
          },
        ],
      },
    },
    'mismatch',
  ],
  [
    'Resend: in progress',
    {
      status: 409,
      json: { statusCode: 409, name: 'concurrent_idempotent_requests', message: 'Same idempotency key used while original request is still in progress.' },
    },
    'in-progress',
  ],
  [
    'Resend: mismatch',
    { status: 409, json: { statusCode: 409, name: 'invalid_idempotent_request', message: 'Same idempotency key used with a different request payload.' } },
    'mismatch',
  ],
  ['Resend: bad key', { status: 400, json: { statusCode: 400, name: 'invalid_idempotency_key', message: 'The key must be between 1-256 chars.' } }, 'refused'],
  [
    'Coinbase CDP',
    { status: 422, json: { errorType: 'idempotency_error', errorMessage: `Idempotency key '${KEY}' was already used with a different request payload.` } },
    'mismatch',
  ],
  [
    'AWS',
    { status: 400, json: { code: 'IdempotentParameterMismatch', message: 'The request uses the same client token as a previous, but non-identical request.' } },
    'mismatch',
  ],
  ['Checkout.com', { status: 409 }, 'in-progress'],
  ['Modern Treasury', { status: 409, json: { errors: { message: 'A request with this idempotency key is already in progress' } } }, 'in-progress'],
  [
    'Kong plugin',
    { status: 409, json: { message: 'A request with this key is in progress' }, headers: { 'X-Idempotency-Status': 'waiting_response' } },
    'in-progress',
  ],
  ['Method', { status: 503, json: { success: false, data: { error: { type: 'API_ERROR', sub_type: 'IDEMPOTENCY_UNAVAILABLE' } } } }, 'transient'],
  [
    'GoCardless: the resource exists',
    {
      status: 409,
      json: {
        error: {
          type: 'invalid_state',
          code: 409,
          message: 'A resource has already been created with this idempotency key',
          errors: [
            {
              reason: 'idempotent_creation_conflict',
              message: 'A resource has already been created with this idempotency key',
              links: { conflicting_resource_id: 'PM123' },
            },
          ],
        },
      },
    },
    'open',
  ],
  [
    'Increase: used already',
    {
      status: 409,
      json: {
        type: 'idempotency_key_already_used_error',
        title: 'Idempotency key already used',
        detail: null,
        resource_id: 'account_transfer_7k9qe1ysdgqztnt63l7n',
        status: 409,
      },
    },
    'open',
  ],
  ['an ordinary conflict', { status: 409, json: { code: 'email_taken' } }, 'refused'],
  ['an ordinary lock', { status: 423, json: { code: 'ACCOUNT_LOCKED', message: 'The account is locked' } }, 'refused'],
  ['an e-mail that is in use', { status: 409, json: { error: { code: 'email_in_use', message: 'This e-mail is in use' } } }, 'refused'],
  ['a concurrent edit', { status: 409, json: { error: 'concurrent_modification', message: 'Somebody else saved a different version' } }, 'refused'],
  ['a validation', { status: 422, json: { errors: [{ code: 'too_short', detail: 'name is too short' }] } }, 'refused'],
  ['a validation that speaks of a different field', { status: 400, json: { error: 'invalid', message: 'password does not match' } }, 'refused'],
  ['a plugin that repeats the reason phrase', { status: 409, json: { statusCode: 409, error: 'Conflict', message: 'Conflict' } }, 'in-progress'],
  ['a gateway that says it may be retried', { status: 400, json: { type: 'about:blank', title: 'Bad Request', retryable: true } }, 'transient'],
  ['a problem that says it may not be retried', { status: 429, json: { title: 'Quota used up', retryable: false } }, 'refused'],
];

describe('the words that servers use', () => {
  test.each(SERVERS)('%s', (_, given, kind) => {
    expect(read(given).kind).toBe(kind);
    if (kind === 'mismatch' || kind === 'in-progress') expect(read(given).ambiguous).toBe(true);
  });

  test('for another payload count only if another payload may have gone out under the key', () => {
    for (const [server, given, kind] of SERVERS.filter(([, , kind]) => kind === 'mismatch')) {
      const clean = given.status === 409 ? 'in-progress' : /already/.test(JSON.stringify(given)) ? 'open' : 'refused';
      expect([server, read(given, { otherPayloads: false }).kind, kind]).toEqual([server, clean, 'mismatch']);
    }
  });
});

test.each<[number, string, AnswerKind, AnswerKind]>([
  [400, 'Duplicate idempotency key', 'open', 'refused'],
  [422, 'Idempotency-Key was already used', 'open', 'mismatch'],
  [409, 'Idempotency-Key was already used', 'in-progress', 'in-progress'],
  [422, 'This card is already used', 'refused', 'refused'],
])('%i %s: read for a new key, and for one that may have carried another payload', (status, title, clean, other) => {
  expect([false, true].map((otherPayloads) => read({ status, json: { title } }, { otherPayloads }).kind)).toEqual([clean, other]);
});

describe("the server's hint on whether to retry", () => {
  const TELLS: [string, string][] = [
    ['Stripe-Should-Retry', 'header'],
    ['x-should-retry', 'header'],
    ['Should-Retry', 'header'],
    ['transient-error', 'header'],
    ['retryable', 'json'],
  ];
  test.each(TELLS)('is read from %s (%s) on each kind of status', (name, where) => {
    const say = (status: number, word: boolean): Given =>
      where === 'header' ? { status, headers: { [name]: String(word) } } : { status, json: { [name]: word } };
    for (const status of [400, 402, 422, 429]) {
      expect(read(say(status, true))).toMatchObject({ kind: 'transient', ambiguous: false });
      expect(read(say(status, false))).toMatchObject({ kind: 'refused', ambiguous: false });
    }
    for (const status of [408, 460, 499]) {
      expect(read(say(status, true))).toMatchObject({ kind: 'transient', ambiguous: true });
      expect(read(say(status, false))).toMatchObject({ kind: 'refused', ambiguous: true });
    }
    for (const status of [500, 501, 503, 505]) {
      expect(read(say(status, true))).toMatchObject({ kind: 'transient', ambiguous: true });
      expect(read(say(status, false))).toMatchObject({ kind: 'burnt', ambiguous: true });
    }
    for (const status of [200, 201, 204]) for (const word of [true, false]) expect(read(say(status, word)).kind).toBe('fresh');
    for (const status of [409, 423]) for (const word of [true, false]) expect(read(say(status, word)).kind).toBe('in-progress');
  });

  test('with any other value counts as none', () => {
    for (const word of ['maybe', '', 'TRUE!', '1']) expect(read({ status: 503, headers: { 'x-should-retry': word } }).kind).toBe('transient');
  });

  test('never overrides a replay marker', () => {
    expect(read({ status: 500, headers: { 'idempotent-replayed': 'true', 'stripe-should-retry': 'true' } }).kind).toBe('burnt');
  });
});

describe('a 202', () => {
  test('is fresh, replayed or accepted', () => {
    expect(read({ status: 202, headers: { location: '/jobs/1', 'retry-after': '5' } }).kind).toBe('fresh');
    expect(read({ status: 202 }, { accepted: 'poll' })).toMatchObject({ kind: 'accepted', ambiguous: true });
    expect(read({ status: 202, headers: { 'idempotent-replayed': 'true' } }, { accepted: 'poll' }).kind).toBe('accepted');
    for (const status of [200, 201, 204]) expect(read({ status }, { accepted: 'poll' }).kind).toBe('fresh');
  });

  test('with a link is done only when the link answers with a 2xx other than 202, unless the dialect says more', () => {
    const say = (status: number) => readPoll(answer({ status }), POLL, GENERIC);
    for (const status of [200, 201, 204]) expect(say(status)).toBe('done');
    for (const status of [0, 202, 301, 303, 304, 400, 401, 403, 404, 410, 429, 500, 503]) expect(say(status)).toBe('running');
    // A login page says nothing about the work.
    expect(readPoll(answer({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } }), POLL, GENERIC)).toBe('running');
    expect(readPoll(answer({ status: 200 }), POLL, { ...GENERIC, polled: () => 'failed' })).toBe('failed');
    expect(readPoll(answer({ status: 200 }), POLL, { ...GENERIC, polled: () => undefined })).toBe('done');
  });

  test('that the dialect calls done is polled all the same; what else the dialect says counts', () => {
    const saying = (kind: AnswerKind): Dialect => ({ ...GENERIC, read: () => ({ kind, ambiguous: false }) });
    for (const kind of ['fresh', 'replayed', 'done-elsewhere'] as const)
      expect(read({ status: 202 }, { accepted: 'poll', dialect: saying(kind) }).kind).toBe('accepted');
    for (const kind of ['refused', 'in-progress'] as const) expect(read({ status: 202 }, { accepted: 'poll', dialect: saying(kind) }).kind).toBe(kind);
    // Of its work, a document that says "failed" counts more than a rule that says "done".
    expect(readPoll(answer({ status: 200, json: { status: 'failed' } }), POLL, saying('fresh'))).toBe('failed');
    expect(readPoll(answer({ status: 200, json: { status: 'running' } }), POLL, saying('fresh'))).toBe('done');
  });

  test('whose link answers with JSON that was lost on the way goes on', () => {
    expect(readPoll(answer({ status: 200, headers: { 'content-type': 'application/json' } }), POLL, GENERIC)).toBe('running');
  });
});

describe("a dialect's own reading", () => {
  test('comes first, and is told of ambiguity', () => {
    const dialect: Dialect = { ...GENERIC, read: (_, { method }, ambiguous) => ({ kind: 'open', ambiguous, resource: method }) };
    expect(read({ status: 0, type: 'opaque' }, { dialect, ambiguous: true })).toEqual({ kind: 'open', ambiguous: true, resource: 'POST' });
  });

  test('leaves all other answers to the common rules', () => {
    expect(read({ status: 402 }, { dialect: { ...GENERIC, read: () => undefined } }).kind).toBe('refused');
  });
});

describe('a verdict of a hook', () => {
  test.each<[Verdict, AnswerKind, boolean, boolean | undefined]>([
    ['fresh', 'fresh', false, undefined],
    ['replayed', 'replayed', false, undefined],
    ['rejected', 'refused', false, undefined],
    ['rejected-for-good', 'refused', false, true],
    ['not-sent', 'not-sent', false, undefined],
    ['ambiguous', 'no-answer', true, undefined],
    ['in-progress', 'in-progress', true, undefined],
    ['transient', 'transient', true, undefined],
  ])('%s has its reading', (word, kind, ambiguous, sticky) => {
    expect(READING_OF_VERDICT[word]).toMatchObject({ kind, ambiguous });
    expect(READING_OF_VERDICT[word].sticky).toBe(sticky);
  });

  test('has no other words', () => {
    expect(Object.keys(READING_OF_VERDICT)).toHaveLength(8);
    for (const word of ['toString', 'constructor', '__proto__', 'done']) expect(Object.hasOwn(READING_OF_VERDICT, word)).toBe(false);
  });
});

test('no body, however absurd, makes readAnswer throw, or read an answer other than a 2xx as fresh', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 'x' : { error: deep(levels - 1), errors: [deep(levels - 1)] });
  for (const json of [deep(8), { errors: Array.from({ length: 10_000 }, () => ({ code: 'x'.repeat(1000) })) }, { message: 'a'.repeat(1_000_000) }]) {
    expect(() => read({ status: 409, json })).not.toThrow();
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), fc.jsonValue(), fc.dictionary(fc.string(), fc.string()), fc.boolean(), (status, json, headers, ambiguous) => {
      const { kind } = read({ status, json, headers }, { ambiguous });
      if (status < 200 || status > 299) expect(kind).not.toBe('fresh');
    }),
    { numRuns: 1000 },
  );
});
