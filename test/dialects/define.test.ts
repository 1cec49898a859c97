/** Goal: nobody can define a dialect that takes an unknown outcome for a settled one. Method: bad definitions, and rules that try to. */
import { describe, expect, test } from 'vitest';
import { decide, type Situation } from '../../src/core/decide.js';
import { readAnswer } from '../../src/core/verdict.js';
import {
  type AnswerRule,
  adyen,
  aws,
  braintree,
  checkout,
  type DialectDefinition,
  defineDialect,
  generic,
  googleRequestId,
  ietf,
  inBody,
  inHeader,
  klarna,
  paypal,
  razorpay,
  repeatableRequests,
  shopify,
} from '../../src/entries/dialects.js';
import { LEAN } from '../support/texts.js';
import { ASKED, answerOf } from './support/fixtures.js';
import { SITUATIONS } from './support/situations.js';

const place = inHeader('X-Key');
const make = (more: Partial<DialectDefinition>) => () => defineDialect({ name: 'mine', place, ...more });

describe('a definition that no server could mean is refused at once', () => {
  const mistakes: [string, Partial<DialectDefinition>, string][] = [
    ['an empty name', { name: '' }, 'name'],
    ['a name with spaces', { name: 'my bank' }, 'name'],
    ['an unknown place', { place: { carrier: 'cookie:key' } }, 'cookie:key'],
    ['a place without its code', { place: { carrier: 'body:key' } }, 'body:key'],
    ['a pattern that lets a line break through', { pattern: /^[^"]+$/ }, 'pattern'],
    ['a pattern without an end', { pattern: /^[\w-]+/ }, 'pattern'],
    ['a pattern that keeps a position (g)', { pattern: /^[\w-]+$/g }, 'flags'],
    ['a pattern that no UUID matches', { pattern: /^\w{32}$/ }, 'shape'],
    ['a window of zero', { windowMs: 0 }, 'windowMs'],
    ['a window without end', { windowMs: Number.POSITIVE_INFINITY }, 'windowMs'],
    ['a rule for every answer', { answers: [{ means: 'refused' }] }, 'answers[0]'],
    ['a sticky rule that refuses nothing', { answers: [{ status: 409, means: 'in-progress', sticky: true }] }, 'sticky'],
    ['a sticky 500', { answers: [{ status: 500, means: 'refused', sticky: true }] }, 'burnt'],
    ['an unknown meaning', { answers: [{ status: 409, means: 'done' as 'fresh' }] }, 'burnt, open or fresh, got "done"'],
    ['no meaning at all', { answers: [{ status: 409 } as AnswerRule] }, 'answers[0]'],
    ['a rule with no path in `at`', { answers: [{ at: {}, means: 'refused' }] }, 'matches every answer'],
    ['a marker that every answer has', { marker: { headers: {} } }, 'matches every answer'],
    ['a rule that fits only every other time (g)', { answers: [{ at: { status: /declined/g }, means: 'refused' }] }, '/declined/g'],
    ['a marker that fits only every other time (y)', { marker: { headers: { replayed: /true/y } } }, '/true/y'],
    ['a text that fits only every other time (g)', { answers: [{ text: /sorry/g, means: 'refused' }] }, '/sorry/g'],
    ['a status given as text', { answers: [{ status: '402' as never, means: 'refused' }] }, 'answers[0]: status'],
    [
      'a value in `at` that is not text',
      { answers: [{ status: 200, at: { success: false as never }, means: 'refused' }] },
      'answers[0]: at.success must be text',
    ],
    ['a header of a marker that is not text', { marker: { headers: { replayed: 1 as never } } }, 'marker: headers.replayed must be text'],
    ['a 409 that is done', { answers: [{ status: 409, means: 'fresh' }] }, '2xx or 3xx'],
  ];
  // Only a mistake in the code makes such a definition, so builds for production do not check it.
  test.each(mistakes)('%s', (_, more, message) => {
    if (LEAN) expect(make(more)).not.toThrow();
    else expect(make(more)).toThrow(message);
  });

  test.each<[string, object, string]>([
    ['a member that is misspelled', { replay: true } as object, 'dialect mine: replay'],
    ['a rule that would fit every 200', { answers: [{ status: 200, body: { status: 'declined' }, means: 'refused' } as AnswerRule] }, 'answers[0]: body'],
    ['a marker that would fit every answer', { marker: { header: { replayed: 'true' } } as object }, 'marker: header'],
  ])('%s, in every build', (_, more, message) => expect(make(more)).toThrow(message));
});

if (!LEAN)
  test.each<[unknown, string]>([
    [null, 'a dialect must be an object, got null'],
    [[], 'a dialect must be an object, got an array'],
    ['bank', 'a dialect must be an object, got string'],
    [{ place }, 'name of a dialect must be letters, digits and hyphens, got undefined'],
    [{ place, name: Symbol('bank') }, 'name of a dialect must be letters, digits and hyphens, got symbol'],
    [{ place, name: 'bank', marker: 'replayed' }, 'dialect bank: marker must be an object, got string'],
    [{ place, name: 'bank', answers: { status: 409, means: 'in-progress' } }, 'dialect bank: answers must be an array of rules, got object'],
    [{ place, name: 'bank', answers: [null] }, 'dialect bank: answers[0] must be an object, got null'],
  ])('of another type than its own: %j', (definition, message) => expect(() => defineDialect(definition as never)).toThrow(message));

if (LEAN)
  test('in production, an unknown meaning leaves the answer to its status', () => {
    const dialect = defineDialect({ name: 'mine', place, answers: [{ means: 'in-progres' as 'in-progress' }] });
    const read = (status: number) => readAnswer(answerOf({ status }), ASKED, dialect, false).kind;
    expect([read(201), read(500), read(422)]).toEqual(['fresh', 'transient', 'refused']);
  });

describe('an option that a dialect does not know is refused at once: it would be ignored, and a default used in its place', () => {
  test.each<[string, () => unknown]>([
    ['generic: headerName', () => generic({ headerName: 'X-Key' } as object)],
    ['aws: tokens', () => aws({ tokens: 'clientToken' } as object)],
    ['aws: goes "header"', () => aws({ goes: 'header' as 'body' })],
    ['braintree: path', () => braintree({ path: 'variables.key' } as object)],
    ['checkout: window', () => checkout({ window: 3_600_000 } as object)],
    ['google-request-id: goes "header"', () => googleRequestId({ goes: 'header' as 'body' })],
    ['google-request-id: name', () => googleRequestId({ name: 'request_id' } as object)],
    ['ietf: ttlMs', () => ietf({ ttlMs: 60_000 } as object)],
    ['paypal: api "order"', () => paypal({ api: 'order' as 'orders' })],
    ['paypal: apis', () => paypal({ apis: 'orders' } as object)],
    ['razorpay: makes "payouts"', () => razorpay({ makes: 'payouts' as 'payout' })],
    ['razorpay: for', () => razorpay({ makes: 'payout', for: 'x' } as { makes: 'payout' })],
    ['repeatable-requests: keepRefusals', () => repeatableRequests({ keepRefusals: true } as object)],
    ['shopify: path', () => shopify({ path: 'variables.idempotencyKey' } as object)],
    ['the header X-Key: quote', () => inHeader('X-Key', { quote: true } as object)],
  ])('%s', (said, factory) => {
    expect(factory).toThrow(TypeError);
    expect(factory).toThrow(said);
  });
});

test('a key that oncefetch makes can be shaped to fit', () => {
  const dialect = defineDialect({ name: 'narrow', place, pattern: /^[\da-f]{32}$/, shape: (uuid) => uuid.replaceAll('-', '') });
  expect(dialect.keyPattern.test(dialect.shape?.('9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d') ?? '')).toBe(true);
});

const MEANINGS: readonly AnswerRule['means'][] = ['in-progress', 'mismatch', 'done-elsewhere', 'refused', 'transient', 'burnt', 'open'];
const STATUSES = [200, 202, 302, 400, 401, 402, 404, 408, 409, 412, 422, 423, 425, 429, 460, 499, 500, 501, 502, 503, 504, 505, 511, 599];

describe('whatever a rule says', () => {
  test.each(MEANINGS)('%s never settles as none for a 5xx, and never as done for a 4xx', (means) => {
    for (const sticky of means === 'refused' ? [false, true] : [false]) {
      const dialect = defineDialect({ name: 'liar', place, answers: [{ text: /^/, means, sticky }] });
      for (const status of STATUSES) {
        const answer = answerOf({ status, body: '{}' });
        for (const situation of SITUATIONS) {
          const decision = decide(readAnswer(answer, ASKED, dialect, situation.ambiguous), situation as Situation);
          if (decision.do !== 'settle') continue;
          const { effect } = decision.ending;
          if (status >= 500 && status !== 501 && status !== 505) expect(effect, `${means} ${status}`).not.toBe('none');
          if (status >= 400) expect(effect, `${means} ${status}`).not.toBe('done');
          if (effect === 'none' && situation.ambiguous) expect(sticky, `${means} ${status}`).toBe(true);
        }
      }
    }
  });

  test('an answer after a redirect is not read, unless the rule is about redirects', () => {
    const dialect = defineDialect({
      name: 'form',
      place,
      answers: [
        { status: 200, redirected: true, text: /thank you/, means: 'fresh' },
        { status: 200, text: /sorry/, means: 'refused' },
      ],
    });
    const read = (body: string, redirected: boolean) => readAnswer(answerOf({ status: 200, body, redirected }), ASKED, dialect, false).kind;
    expect(read('thank you', true)).toBe('fresh');
    expect(read('sorry', true)).toBe('not-a-verdict');
    expect(read('sorry', false)).toBe('refused');
  });

  test('a 5xx with the replay marker is burnt', () => {
    const dialect = defineDialect({ name: 'replays', place, answers: [{ status: 500, means: 'transient' }] });
    const read = (headers: Record<string, string>) => readAnswer(answerOf({ status: 500, headers }), ASKED, dialect, true).kind;
    expect(read({})).toBe('transient');
    expect(read({ 'idempotent-replayed': 'true' })).toBe('burnt');
  });
});

test('the generic dialect takes another header and another window', () => {
  expect(generic({ header: 'X-Request-Id', windowMs: 60_000 })).toMatchObject({ name: 'generic', carrier: 'header:X-Request-Id', windowMs: 60_000 });
  expect(generic()).toMatchObject({ carrier: 'header:Idempotency-Key', windowMs: 86_400_000 });
});

test('a rule reads booleans and numbers as text', () => {
  const dialect = defineDialect({ name: 'mine', place, answers: [{ status: 409, at: { duplicate: 'true', code: '7' }, means: 'in-progress' }] });
  const kindOf = (body: object) => readAnswer(answerOf({ status: 409, body: JSON.stringify(body) }), ASKED, dialect, false).kind;
  expect(kindOf({ duplicate: true, code: 7 })).toBe('in-progress');
  expect(kindOf({ duplicate: false, code: 7 })).not.toBe('in-progress');
});

test('paths go through lists and objects, and no hostile body is walked without end', () => {
  const dialect = defineDialect({ name: 'deep', place: inBody('k'), answers: [{ at: { 'a.*.b': 'x' }, means: 'in-progress' }] });
  const read = (body: unknown) => readAnswer(answerOf({ status: 400, body }), ASKED, dialect, false).kind;
  expect(read({ a: [{ b: 'y' }, { b: 'x' }] })).toBe('in-progress');
  expect(read({ a: { c: { b: 'x' } } })).toBe('in-progress');
  expect(read({ a: null })).toBe('refused');
  expect(read({ a: Array.from({ length: 1_000_000 }, () => 1) })).toBe('refused');
});

describe('an empty body', () => {
  const json = { 'content-type': 'application/json' };
  test.each<[string, number, Record<string, string>, string]>([
    ['of JSON that a gateway cut off', 200, json, 'transient'],
    ['of JSON whose compressed bytes never came', 200, { ...json, 'content-encoding': 'gzip', 'content-length': '90' }, 'transient'],
    ['of JSON whose length is given as 0', 200, { ...json, 'content-length': '0' }, 'fresh'],
    ['that is not labelled as JSON', 200, {}, 'fresh'],
    ['of JSON that a gateway cut off, where the status alone means accepted', 202, json, 'transient'],
    ['of JSON with a status that declines nothing', 204, json, 'fresh'],
  ])('%s, %i, from a server that declines in the body', (_, status, headers, kind) => {
    for (const dialect of [adyen(), checkout()])
      for (const ambiguous of [false, true]) expect(readAnswer(answerOf({ status, headers }), ASKED, dialect, ambiguous).kind).toBe(kind);
    for (const dialect of [generic(), klarna()]) expect(readAnswer(answerOf({ status: 201, headers }), ASKED, dialect, false).kind).toBe('fresh');
  });
});
