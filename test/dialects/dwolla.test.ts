/** Goal: a server that locks a key for a day after its own failure never gets a second transfer. Method: `support/suite.ts`, and a key that stays locked. */
import { expect } from 'vitest';
import { dwolla } from '../../src/entries/dialects.js';
import { answers, charged, lost } from '../support/server.js';
import { CART, HOUR, pay } from '../support/world.js';
import { plays, testOf } from './support/suite.js';

const dialect = dwolla();
const test = testOf(dialect);

test('a changed payload after a lost answer is not sent: under the same key it could be another transfer', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  expect(await world.end(tab, pay(once, { body: { ...CART, amount: 99 } }))).toMatchObject({ code: 'ERR_ONCE_MISMATCH', outcome: { effect: 'unknown' } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('a 409 that keeps coming after a 500 proves nothing: unknown until the server gives the answer for the key', async ({ world, tab, once }) => {
  world.server.plays(charged(answers(500)));
  world.server.otherwise = plays({ status: 409, headers: {} });
  const open = await world.end(tab, pay(once));
  expect(open.outcome).toMatchObject({ effect: 'unknown' });
  expect(world.server.arrivals.length).toBeGreaterThan(1);
  expect(world.record()).toMatchObject({ state: 'pending', key: open.outcome?.key });
  await world.clock.advance(HOUR);
  const done = await world.end(tab, pay(once), plays({ status: 201, headers: {} }, true));
  expect(done.outcome).toMatchObject({ effect: 'done', key: open.outcome?.key });
  expect(new Set(world.server.keys).size).toBe(1);
});
