/**
 * Goal: in the body of a conflict, only the members that servers use for errors count, and only as far as a bounded search
 * reaches. Method: one body at a time, with one word in one place; if the word is not seen, the reading is another.
 */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../src/core/dialect.js';
import { readAnswer, readPoll } from '../../src/core/verdict.js';
import { GENERIC } from '../../src/dialects/generic.js';

const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324';
const answer = (status: number, json?: unknown, headers: Record<string, string> = {}, more: Partial<Answer> = {}): Answer => ({
  status,
  type: 'default',
  redirected: false,
  header: (name) => headers[name] ?? null,
  text: json === undefined ? '' : JSON.stringify(json),
  json,
  ...more,
});
const read = (given: Answer, ambiguous = false) => readAnswer(given, { method: 'POST', key: KEY, refusesHtml: true, otherPayloads: true }, GENERIC, ambiguous);
const kindOf = (status: number, json?: unknown, headers?: Record<string, string>): string => read(answer(status, json, headers)).kind;

/** Puts `what` into `depth` nested objects. */
const deep = (depth: number, what: object): object => (depth === 0 ? what : { error: deep(depth - 1, what) });

const POLL = { method: 'GET', key: 'k', refusesHtml: true, otherPayloads: false };

describe("an application's own error code means a refusal, not work in progress", () => {
  const OWN = 'email_taken';
  test.each<[object]>([
    ...['code', 'error', 'type', 'name', 'errorCode', 'errorType', 'error_code', 'issue'].map((name): [object] => [{ [name]: OWN }]),
    [{ errors: [{ code: OWN }] }],
    [{ error: { code: OWN } }],
    [{ Errors: [{ Code: OWN, Message: 'Email taken' }] }],
    [{ details: [{ issue: OWN }] }],
    [{ links: { code: OWN } }],
    [{ errors: [...Array(12).fill({}), { code: OWN }] }],
    [deep(5, { code: OWN })],
    [{ ...Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`a${n}`, n])), code: OWN }],
    [{ code: 'xconflict' }],
    [{ code: 'conflicts' }],
    [{ code: '4091' }],
    [{ code: 'x409' }],
    [{ code: '40' }],
    [{ type: 'https://shop.example/problems/email-taken', title: 'Conflict' }],
    [{ type: 'https://shop.example/problems/4091', title: 'Conflict' }],
    [{ type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10', code: OWN }],
  ])('%j', (json) => {
    expect(kindOf(409, json)).toBe('refused');
    expect(kindOf(423, json)).toBe('refused');
  });

  test.each<[unknown]>([
    [undefined],
    [{}],
    [null],
    ['email_taken'],
    [{ xcode: OWN }],
    [{ codes: OWN }],
    [{ xerrors: [{ code: OWN }] }],
    [{ errorsx: [{ code: OWN }] }],
    [{ a1: { code: OWN } }],
    [{ '1a': { code: OWN } }],
    [deep(6, { code: OWN })],
    [{ ...Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`a${n}`, n])), code: OWN }],
    ...['', 'true', 'false', 'Conflict', 'LOCKED', 'about:blank', '409', 409, true].map((code): [object] => [{ code }]),
    // The addresses of a status, as frameworks give them for the `type` of problem details.
    ...['https://tools.ietf.org/html/rfc9110#section-15.5.10', 'https://www.rfc-editor.org/rfc/rfc9110', 'https://httpstatuses.io/409'].map(
      (type): [object] => [{ type, title: 'Conflict', status: 409 }],
    ),
  ])('is not found in %j', (json) => expect(kindOf(409, json)).toBe('in-progress'));

  test('does not count if the server sends Retry-After', () => expect(kindOf(409, { code: OWN }, { 'retry-after': '1' })).toBe('in-progress'));
});

describe('words for work in progress', () => {
  test.each<[string, object]>([
    ['an outstanding request', { code: 'x', title: 'A request is outstanding' }],
    ['work in progress', { code: 'in_progress' }],
    ['work inprogress', { code: 'inprogress' }],
    ['something that is being processed', { code: 'x', detail: 'is being processed' }],
    ['something that is still processing', { code: 'x', message: 'still-processing' }],
    ['a busy key', { code: 'x', description: 'the Idempotency-Key is in use' }],
    ['a busy key in one word', { code: 'idempotency_key_inuse' }],
    ['a busy key, quoted by its own text', { code: 'x', error_description: `${KEY} is locked` }],
    ['words split between two members', { code: 'x', title: 'is being', detail: 'processed' }],
    ['words split between two codes', { code: 'still', type: 'processing' }],
    ['words split between a code and a title', { code: 'still', title: 'processing' }],
    ['a concurrent use of a key', { code: 'x', errorMessage: 'concurrent use of an idempotency key' }],
  ])('%s', (_, json) => expect(kindOf(409, json)).toBe('in-progress'));

  test.each<[string, object]>([
    ['an e-mail in use', { code: 'x', title: 'this e-mail is in use' }],
    ['words in a member of another name', { code: 'x', xtitle: 'is outstanding' }],
    ['words in a member of a longer name', { code: 'x', titles: 'is outstanding' }],
    ['a word beyond the first 500 characters', { code: 'x', title: `${'-'.repeat(500)} outstanding` }],
    ['the words "in no progress"', { code: 'x', title: 'in no progress' }],
  ])('are not %s', (_, json) => expect(kindOf(409, json)).toBe('refused'));
});

test.each([
  'another request with this Idempotency-Key is processing',
  'the same request has this idempotency key inuse',
  'a different idempotency key is pending',
])('a 409 or 423 that calls the key busy is work in progress, whatever else it says: %s', (title) => {
  for (const status of [409, 423]) expect(kindOf(status, { title })).toBe('in-progress');
  expect(kindOf(422, { title })).toBe('refused');
});

describe('words for another payload', () => {
  const said = (title: string) => ({ code: 'idempotency_error', title });
  test.each([
    'mismatch',
    'sent with a different body',
    'does not match',
    'do not match',
    'another payload',
    'another body',
    'must be the same param',
    'wants the same payload',
    'the same body',
    'the same request',
    'was reused',
  ])('%s', (title) => {
    for (const status of [400, 409, 422, 423]) expect(kindOf(status, said(title))).toBe('mismatch');
    expect(kindOf(403, said(title))).toBe('refused');
  });

  test('count only in an answer about the key; "already used" counts only in a 422, and work in progress comes first', () => {
    expect(kindOf(422, { code: 'x', title: 'the passwords do not match' })).toBe('refused');
    expect(kindOf(422, said('already used'))).toBe('mismatch');
    expect(kindOf(400, said('already used'))).toBe('refused');
    expect(kindOf(409, said('a different request is outstanding'))).toBe('in-progress');
  });

  test('are about the key if the answer quotes it, and if the key has at least eight characters', () => {
    const short = answer(422, undefined, {}, { text: 'abcdefg was reused', json: { title: 'abcdefg was reused' } });
    const asked = { method: 'POST', refusesHtml: true, otherPayloads: true };
    expect(readAnswer(short, { ...asked, key: 'abcdefg' }, GENERIC, false).kind).toBe('refused');
    const long = answer(422, undefined, {}, { text: 'abcdefgh was reused', json: { title: 'abcdefgh was reused' } });
    expect(readAnswer(long, { ...asked, key: 'abcdefgh' }, GENERIC, false).kind).toBe('mismatch');
  });
});

test.each([409, 423])("the code PAYMENT_REQUIRED is an application's own code in a %d, so the call does not wait", (status) => {
  expect(kindOf(status, { code: 'PAYMENT_REQUIRED' })).toBe('refused');
});

test.each<[string, object, 'application' | undefined]>([
  ['a code', { error: 'card_declined' }, 'application'],
  ['a code beside a message', { error: 'The card was declined', code: 'card_declined' }, 'application'],
  ['a message in error, as a hosting company may send it', { error: 'The quota is exceeded' }, undefined],
  ['the phrase of the status', { error: 'Payment Required' }, undefined],
  ['a message alone', { message: 'The quota is exceeded' }, undefined],
])('a 402 with %s', (_, json, from) => expect(read(answer(402, json))).toMatchObject({ kind: 'refused', from }));

describe('an existing resource', () => {
  test.each(['resource_id', 'conflicting_resource_id'])('is named by %s', (name) => {
    expect(read(answer(409, { code: 'idempotency_conflict', [name]: 'PM1' }))).toMatchObject({ kind: 'open', ambiguous: true });
  });

  test.each<[string, number, object]>([
    ['a member of another name', 409, { code: 'idempotency_conflict', my_resource_id: 'PM1' }],
    ['a member of a longer name', 409, { code: 'idempotency_conflict', resource_ids: 'PM1' }],
    ['another status', 423, { code: 'idempotency_conflict', resource_id: 'PM1' }],
    ['a conflict that is not about a key', 409, { code: 'email_taken', resource_id: 'PM1' }],
    ['an answer that speaks of work in progress', 409, { code: 'idempotency_conflict', title: 'is being processed', resource_id: 'PM1' }],
  ])('is not named by %s', (_, status, json) => expect(read(answer(status, json)).kind).not.toBe('open'));
});

test.each([
  ['Stripe, for a refund', 400, { error: { code: 'charge_already_refunded', type: 'invalid_request_error' } }],
  ['Stripe, for a capture', 400, { error: { code: 'charge_already_captured', type: 'invalid_request_error' } }],
  ['in prose', 409, { message: 'This payment has already been refunded.' }],
])('an answer that the work was done before, perhaps under a lost key, is open: %s', (_, status, json) => {
  expect(read(answer(status, json))).toMatchObject({ kind: 'open', ambiguous: true });
});

describe("a server's hint on whether to retry", () => {
  test.each(['stripe-should-retry', 'x-should-retry', 'should-retry', 'transient-error'])('%s', (name) => {
    expect(read(answer(400, undefined, { [name]: 'true' }))).toMatchObject({ kind: 'transient', ambiguous: false });
    expect(read(answer(501, undefined, { [name]: 'true' }))).toMatchObject({ kind: 'transient', ambiguous: true });
    expect(read(answer(408, undefined, { [name]: 'true' }))).toMatchObject({ kind: 'transient', ambiguous: true });
    expect(read(answer(500, undefined, { [name]: 'false' }))).toMatchObject({ kind: 'burnt', ambiguous: true });
    expect(read(answer(429, undefined, { [name]: 'false' }))).toMatchObject({ kind: 'refused', ambiguous: false });
    expect(read(answer(408, undefined, { [name]: 'false' }))).toMatchObject({ kind: 'refused', ambiguous: true });
    expect(read(answer(400, undefined, { [name]: 'maybe' })).kind).toBe('refused');
    expect(read(answer(201, undefined, { [name]: 'true' })).kind).toBe('fresh');
  });

  test('counts in the body, but a header overrides it', () => {
    expect(kindOf(400, { retryable: true })).toBe('transient');
    expect(kindOf(500, { retryable: false })).toBe('burnt');
    expect(kindOf(500, { retryable: false }, { 'should-retry': 'true' })).toBe('transient');
    expect(kindOf(400, { retryable: 'perhaps' })).toBe('refused');
  });
});

describe('the answer to a poll of a link', () => {
  const poll = (status: number, headers?: Record<string, string>) =>
    readPoll(answer(status, undefined, headers), POLL, { ...GENERIC, polled: undefined as never });
  test.each([
    [100, 'running'],
    [199, 'running'],
    [200, 'done'],
    [201, 'done'],
    [202, 'running'],
    [204, 'done'],
    [299, 'done'],
    [300, 'running'],
    [302, 'running'],
    [303, 'running'],
    [304, 'running'],
    [401, 'running'],
    [404, 'running'],
    [503, 'running'],
  ])('%i: %s', (status, state) => expect(poll(status)).toBe(state));

  test('says nothing about the work if it is an HTML page', () => {
    expect(poll(200, { 'content-type': 'text/HTML' })).toBe('running');
    expect(poll(200, { 'content-type': 'application/json', 'content-length': '0' })).toBe('done');
  });

  test('is read by the dialect first', () => expect(readPoll(answer(200), POLL, { ...GENERIC, polled: () => 'failed' })).toBe('failed'));
});
