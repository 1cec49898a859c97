/** Goal: a server that never compares payloads never gets two of them. Method: `support/suite.ts`, and a changed payload. */
import { expect } from 'vitest';
import { worldline } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { CART, pay } from '../support/world.js';
import { plays, testOf } from './support/suite.js';

const dialect = worldline();
const test = testOf(dialect);

test('a changed payload after a lost answer is not sent under the same key', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  expect(await world.end(tab, pay(once, { body: { ...CART, amount: 99 } }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown' } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('a changed payload is sent under the same key if the caller asks for that', async ({ world }) => {
  const { tab, once } = world.open({ dialect, whenChanged: 'same-key' });
  world.server.plays(charged(lost()), plays({ status: 201, headers: { 'x-gcs-idempotence-request-timestamp': '1762000000000' } }, true));
  await world.end(tab, pay(once, { limits: { attempts: 1 } }));
  const changed = await world.end(tab, pay(once, { body: { ...CART, amount: 99 } }));
  // The marker says that it is the first payload's answer, so the caller must not take it for its own.
  expect(changed).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', type: 'replayed' } });
});

test('a payment that was rejected after its first answer, which was lost, is none: the repeated answer has the newer status', async ({ world, tab, once }) => {
  const marked = { 'content-type': 'application/json', 'x-gcs-idempotence-request-timestamp': '1762000000000' };
  const rejected = plays({ status: 201, headers: marked, body: { payment: { id: 'p1', status: 'REJECTED' } } });
  expect((await world.end(tab, pay(once), lost(), rejected)).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
  const paid = await world.end(tab, pay(once), plays({ status: 201, headers: {}, body: { payment: { id: 'p2', status: 'PENDING_CAPTURE' } } }, true));
  expect(paid.outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(2);
});
