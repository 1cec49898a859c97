/**
 * Goal: no dialect makes an unknown outcome look settled. Method: every dialect reads every fixture of every dialect, and a grid of statuses, headers and
 * bodies, in every situation; there are only a few reasons for which an answer may settle.
 */
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/core/decide.js';
import type { Dialect, Reading } from '../../src/core/dialect.js';
import { mayHideEffect, readAnswer } from '../../src/core/verdict.js';
import { samples } from './support/all.js';
import { ASKED, answerOf, fixtures } from './support/fixtures.js';
import { SITUATIONS } from './support/situations.js';

const STATUSES = [
  100, 200, 201, 202, 204, 301, 303, 304, 307, 400, 401, 402, 403, 404, 405, 407, 408, 409, 410, 412, 417, 421, 422, 423, 424, 425, 429, 451, 460, 499, 500,
  501, 502, 503, 504, 505, 511, 520, 599,
];
const HEADERS = [
  {},
  { 'retry-after': '1' },
  { 'stripe-should-retry': 'false' },
  { 'transient-error': 'true' },
  { 'repeatability-result': 'accepted' },
  { 'repeatability-result': 'rejected' },
  { 'x-amzn-errortype': 'ThrottlingException' },
  { link: '<https://a.example>; rel="describedby"' },
];
const BODIES = [
  undefined,
  '<html>login</html>',
  {},
  [],
  null,
  { error: { code: 'no_such_thing', type: 'card_error' } },
  { errors: [{ message: 'x' }], data: null },
  { errors: [{ message: 'x' }] },
  { data: { a: { userErrors: [{ message: 'x', code: 'y' }] } } },
  { type: 'about:blank', title: 'Conflict', detail: ASKED.key },
  { entity: 'payout', status: 'failed' },
  { status: 'failed', details: [{ issue: 'DUPLICATE_INVOICE_ID' }] },
];

const previousFailed = (status: number, body: unknown): boolean =>
  status === 200 && /IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED|idempotency key failed/.test(JSON.stringify(body));

/** Refusals that a server is documented to keep although they bear no marker; each has a fixture with its source. */
const KEPT: Readonly<Record<string, (status: number, body: unknown) => boolean>> = {
  stripe: (status, body) => status === 402 && (body as { error?: { type?: string } })?.error?.type === 'card_error',
  razorpay: (status, body) =>
    [200, 201].includes(status) &&
    (body as { entity?: string })?.entity === 'payout' &&
    /^(failed|reversed|rejected|cancelled)$/.test(String((body as { status?: string }).status)),
  shopify: previousFailed,
  'shopify, in an argument': previousFailed,
  // Declined inside a 2xx.
  adyen: (status, body) =>
    (status === 200 && /^(Refused|Cancelled)$/.test(String((body as { resultCode?: string })?.resultCode))) ||
    (status === 200 && (body as { response?: string })?.response === 'Refused') ||
    ([200, 201, 202].includes(status) && /^(refused|Declined|Failed)$/.test(String((body as { status?: string })?.status))),
  braintree: (status, body) => status === 200 && /(PROCESSOR|SETTLEMENT)_DECLINED|GATEWAY_REJECTED|FAILED/.test(JSON.stringify(body)),
  checkout: (status, body) => [200, 201, 202].includes(status) && (body as { status?: string })?.status === 'Declined',
  increase: (status, body) => [200, 201].includes(status) && /_transfer","status":"(rejected|declined)"/.test(JSON.stringify(body)),
  klarna: (status, body) => status === 200 && /"result":"DECLINED"|"fraud_status":"REJECTED"/.test(JSON.stringify(body)),
  mangopay: (status, body) =>
    (status === 200 && (body as { Status?: string })?.Status === 'FAILED') || (status === 400 && typeof (body as { Type?: unknown })?.Type === 'string'),
  mollie: (status, body) => status === 201 && (body as { status?: string })?.status === 'failed',
  paypal: (status, body) =>
    (status === 201 && /"(DECLINED|DENIED|FAILED)"/.test(JSON.stringify(body))) ||
    ([200, 201].includes(status) && /^(denied|failed)$/.test(String((body as { state?: string })?.state))),
  truelayer: (status, body) =>
    (status === 201 && (body as { status?: string })?.status === 'failed') ||
    (status === 200 && /"status":"failed".*"failure_reason"/.test(JSON.stringify(body))),
  worldline: (status, body) => [200, 201].includes(status) && /^REJECTED(_CAPTURE|_CREDIT)?$/.test(String((body as { status?: string })?.status)),
  'repeatableRequests, refusals kept': (status) => [400, 402, 404, 410, 413, 415, 422].includes(status),
};

interface Case {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const grid: readonly Case[] = STATUSES.flatMap((status) =>
  HEADERS.flatMap((headers) => BODIES.map((body) => ({ status, headers: headers as Record<string, string>, body }))),
);
const cases = [...fixtures, ...grid].map((one: Case) => ({ ...one, answer: answerOf(one) }));
type Asked = (typeof cases)[number];

/** What is wrong with this reading, if anything is. */
function fault(name: string, dialect: Dialect, { status, headers, body, answer }: Asked): string | undefined {
  const marked = dialect.replayed(answer);
  const says = (what: string, reading: Reading): string => `${what}: ${status} ${JSON.stringify(headers)} ${JSON.stringify(body)} is ${reading.kind}`;
  const readings = [false, true].map((ambiguous) => readAnswer(answer, ASKED, dialect, ambiguous));
  for (const situation of SITUATIONS) {
    const reading = readings[Number(situation.ambiguous)] as Reading;
    // An answer that may hide an effect makes the record ambiguous, unless the answer says that the work is done.
    if (mayHideEffect(status) && !reading.ambiguous && reading.kind !== 'done-elsewhere') return says('clean', reading);
    const decision = decide(reading, situation);
    if (decision.do !== 'settle') continue;
    const { effect } = decision.ending;
    if (effect === 'done' && !(status >= 200 && (status < 300 || (marked && status < 400)))) return says('done', reading);
    if (effect === 'none' && mayHideEffect(status)) return says('none', reading);
    if (effect === 'none' && situation.ambiguous && !marked && !KEPT[name]?.(status, body)) return says('none after ambiguity', reading);
  }
  return undefined;
}

describe.each(Object.entries(samples))('%s', { timeout: 60_000 }, (name, { dialect }) => {
  test(`settles none of ${cases.length} answers in ${SITUATIONS.length} situations without a reason`, () => {
    expect(
      cases
        .map((one) => fault(name, dialect, one))
        .filter((found) => found !== undefined)
        .slice(0, 20),
    ).toEqual([]);
  });

  test('reads an answer as done elsewhere only if it speaks of the key and names what was made', () => {
    for (const { status, headers, body, answer } of cases) {
      const { kind, resource } = readAnswer(answer, ASKED, dialect, true);
      if (kind !== 'done-elsewhere') continue;
      expect({ status, resource: typeof resource }, JSON.stringify({ headers, body })).toEqual({ status: 409, resource: 'string' });
      expect(answer.text).toMatch(/idempoten/);
    }
  });
});
