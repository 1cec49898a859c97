/** Goal: the dialect speaks to PayPal as documented, and to each API within its window. Method: `support/suite.ts`, and the windows. */
import { expect, test } from 'vitest';
import { paypal } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { HOUR, pay } from '../support/world.js';
import { plays, worldOf } from './support/suite.js';

test.each([
  [undefined, 3],
  ['vault', 3],
  ['orders', 6],
  ['subscriptions', 72],
  ['products', 72],
  ['payouts', 30 * 24],
  ['payments', 45 * 24],
] as const)('the keys of %s are stored for %i hours', (api, hours) => expect(paypal({ api }).windowMs).toBe(hours * HOUR));

test('after the window, nothing more is sent', async () => {
  const dialect = paypal({ api: 'orders' });
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  await world.clock.advance(6 * HOUR);
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  expect(world.server.arrivals).toHaveLength(1);
});

test('a business duplicate after a lost answer is settled by reconcile, not guessed', async () => {
  const dialect = paypal();
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect, reconcile: async () => new Response('{"id":"O1"}', { status: 200 }) });
  const duplicate = { status: 422, headers: { 'content-type': 'application/json' }, body: { details: [{ issue: 'DUPLICATE_INVOICE_ID' }] } };
  world.server.plays(charged(lost()), plays(duplicate));
  expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done', type: 'replayed', from: 'reconcile' } });
});

test("'already used' for a key that was never sent is about a copy that the browser sent unseen: unknown, and the next press has the same key", async () => {
  const dialect = paypal();
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect }, { resends: true });
  const used = { status: 400, headers: { 'content-type': 'application/json' }, body: { name: 'DUPLICATE_REQUEST_ID' } };
  expect((await world.end(tab, pay(once), plays(used, true), plays(used))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown' });
  expect(new Set(world.server.keys).size).toBe(1);
});

test.each([
  'ORDER_ALREADY_CAPTURED',
  'ORDER_ALREADY_AUTHORIZED',
  'ORDER_ALREADY_COMPLETED',
  'AUTHORIZATION_ALREADY_CAPTURED',
  'PREVIOUSLY_VOIDED',
  'CAPTURE_FULLY_REFUNDED',
  'DUPLICATE_INVOICE_ID',
])(
  '%s to the first request of a key: another device, or this one before its storage was cleared, may have done it, so the outcome is not none',
  async (issue) => {
    const dialect = paypal();
    const world = worldOf(dialect);
    const { tab, once } = world.open({ dialect });
    const said = plays({ status: 422, headers: { 'content-type': 'application/json' }, body: { name: 'UNPROCESSABLE_ENTITY', details: [{ issue }] } });
    expect(await world.end(tab, pay(once), said)).toMatchObject({ status: 422, outcome: { effect: 'unknown', reason: 'refused' } });
  },
);

test.each([
  [undefined, 38],
  ['orders', 108],
  ['payouts', 38],
] as const)('the key of %s has at most %i characters', (api, length) => {
  const { keyPattern } = paypal({ api });
  expect([keyPattern.test('k'.repeat(length)), keyPattern.test('k'.repeat(length + 1))]).toEqual([true, false]);
});
