/**
 * Goal: no answer of a real service lets an operation charge twice, or be told `none` or `done` where that may be untrue. Method: the sequences that did so,
 * each with the answer as that service gives it.
 */
import { describe, expect } from 'vitest';
import { braintree, paypal, shopify, telnyx } from '../../src/entries/dialects.js';
import { answers, charged, idle, lost, replays } from '../support/server.js';
import { MINUTE, newWorld, pay, test } from '../support/world.js';

test('a done operation is not sent again for its answer after a release that puts keys elsewhere: the server may never have looked there', async ({
  world,
  tab,
}) => {
  await world.end(tab, pay(tab.once({ namespace: 'ann' })), answers(201));
  const next = tab.reload();
  const end = await world.end(next, pay(next.once({ namespace: 'ann', dialect: paypal() })));
  expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('an edited form after a refusal that may hide an effect: a mismatch that looks like any other 422 proves nothing', async ({ world }) => {
  const { tab, once } = world.open({ dialect: telnyx() }, { resends: true });
  const edited = { body: { cart: 'c1', amount: 20 } };
  // One copy that the browser sent charged, and the other one met an expired log-in.
  const { outcome } = await world.end(tab, pay(once), charged(answers(401)));
  expect(outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  world.server.otherwise = answers(422, { errors: [{ title: 'Unprocessable Entity' }] });
  for (let press = 1; press < 4; press++) expect((await world.end(tab, pay(once, edited))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  world.server.otherwise = answers(201);
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

test('a server that knows no keys: after a 429, which may have met only the second copy, nothing is sent again', async ({ world }) => {
  const { tab, once } = world.open({ dialect: () => 'none' }, { resends: true });
  world.server.plays(charged(answers(429, {}, { 'retry-after': '1' })));
  expect(await world.end(tab, pay(once))).toMatchObject({ status: 429, outcome: { effect: 'unknown', reason: 'refused', attempts: 1 } });
});

describe.each([braintree(), shopify()])('$name: a 200 is not done', (dialect) => {
  const body = { query: 'mutation m($input: I!) { go(input: $input) { id userErrors { field } } }', variables: { input: {} } };

  test.for<[string, unknown, string]>([
    ['with errors that have no message', { errors: [{ extensions: { errorClass: 'AUTHENTICATION' } }], data: null }, 'unknown'],
    ['with errors alone that have no message', { errors: [{ path: ['go'] }] }, 'none'],
    ['with an error that says nothing', { errors: [{}] }, 'unknown'],
    ['with an error that is text', { errors: 'upstream timeout' }, 'unknown'],
    ['without data', {}, 'unknown'],
    ['with the error of a gateway', { message: 'no healthy upstream' }, 'unknown'],
    ['whose data is null', { data: null }, 'unknown'],
    ['that is empty', undefined, 'unknown'],
  ])('%s', async ([_, json, effect], { world }) => {
    const { tab, once } = world.open({ dialect });
    world.server.otherwise = idle(answers(200, json));
    expect((await world.end(tab, pay(once, { body }))).outcome).toMatchObject({ effect });
  });
});

test.for<[string, unknown, Record<string, string>]>([
  ['as a page', '<html>This Deployment has been disabled. 402: PAYMENT_REQUIRED', { 'content-type': 'text/html; charset=utf-8' }],
  ['as a page in the charset that Apache has for its own', '<html>Account suspended', { 'content-type': 'text/html; charset=iso-8859-1' }],
  ['as JSON that repeats the phrase of the status', { error: 'Payment Required' }, {}],
  ['as text', 'Payment required\n\nDEPLOYMENT_DISABLED\n\nfra1::6zsv8', {}],
  ['as JSON', { message: 'Service for this project is restricted due to the following violations: exceed_db_size_quota.' }, {}],
])(
  'a host that answers 402 for its own bill, %s, has not declined a card: the answer proves nothing about a lost one',
  async ([_, body, headers], { world, tab, once }) => {
    world.server.plays(charged(lost()), answers(402, body, headers), answers(402, body, headers), replays());
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown' });
    await world.clock.advance(3 * MINUTE);
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(1);
  },
);

test.for(['ISO-8859-1', 'us-ascii', '"windows-1252"'])(
  'JSON with charset %s is parsed, and kept byte for byte: a decline in a 200 is not done',
  async (charset, { world }) => {
    const { tab, once } = world.open({ verdict: ({ json }) => ((json as { status?: string } | undefined)?.status === 'declined' ? 'rejected' : undefined) });
    const body = new TextEncoder().encode('{"status":"declined","name":"?"}').map((byte) => (byte === 63 ? 0xe9 : byte));
    const end = await world.end(tab, pay(once), () => new Response(body, { headers: { 'content-type': `application/json;charset=${charset}` } }));
    expect(end.outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    expect(new Uint8Array((await end.response?.arrayBuffer()) as ArrayBuffer)).toEqual(body);
  },
);

test.for<[string, Record<string, string>]>([
  ['has no content type', {}],
  ['is labelled as plain text', { 'content-type': 'text/plain' }],
  ['is labelled as plain text of another charset', { 'content-type': 'text/plain; charset=iso-8859-1' }],
  ['is labelled as JSON', { 'content-type': 'application/json' }],
])('an HTML page that %s proves nothing: it may come from a captive portal', async ([_, headers], { world, tab, once }) => {
  world.server.plays(
    idle(() => new Response(new TextEncoder().encode('\n<!DOCTYPE html><html>Log in to the network'), { headers })),
    replays(),
  );
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
});

test.each([
  'payment_already_processed',
  'ORDER_ALREADY_PAID',
  'already-completed',
  'AlreadyCharged',
  'already_been_executed',
  'OrderAlreadyPaid',
  'orderHasAlreadyBeenPaid',
  'ORDER_ALREADY_PAID_ERROR',
  'PaymentAlreadyProcessedException',
])('a code that says that the work is done already, %s, leaves the outcome unknown, as the same words in prose do', async (code) => {
  for (const status of [400, 409, 422]) {
    const { world, tab, once } = newWorld().open({}, { resends: true });
    expect((await world.end(tab, pay(once), charged(answers(status, { code })))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  }
});
