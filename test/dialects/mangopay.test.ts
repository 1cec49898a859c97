/** Goal: a key that Mangopay blocks is neither waited for nor sent with a corrected form. Method: `support/suite.ts`, and the 409. */
import { expect, test } from 'vitest';
import { mangopay } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { CART, pay } from '../support/world.js';
import { fixturesOf } from './support/fixtures.js';
import { plays, worldOf } from './support/suite.js';

const dialect = mangopay();

function documented(name: string) {
  const fixture = fixturesOf('mangopay').find((one) => one.name === name);
  if (!fixture) throw new Error(`no fixture ${name}`);
  return fixture;
}

test('after a lost answer, the blocked key proves nothing, and the outcome stays open under it', async () => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const end = await world.end(tab, pay(once), charged(lost()), plays(documented('key-was-used')));
  expect(end).toMatchObject({ status: 409, outcome: { effect: 'unknown', reason: 'burnt' } });
  expect(world.record()).toMatchObject({ state: 'pending', key: end.outcome?.key });
});

test('reconcile, which finds the first answer, settles the operation', async () => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect, reconcile: async () => Response.json(documented('made').body) });
  world.server.plays(charged(lost()), plays(documented('key-was-used')));
  expect(await world.end(tab, pay(once))).toMatchObject({ status: 200, outcome: { effect: 'done', from: 'reconcile' } });
});

test('a form that is corrected after a refusal goes out under another key, because the refused key is blocked', async () => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const refused = await world.end(tab, pay(once), plays(documented('invalid')), plays(documented('made'), true));
  expect(refused).toMatchObject({ status: 400, outcome: { effect: 'none' } });
  const made = await world.end(tab, pay(once, { body: { ...CART, amount: 99 } }));
  expect(made.outcome).toMatchObject({ effect: 'done' });
  expect(made.outcome?.key).not.toBe(refused.outcome?.key);
});
