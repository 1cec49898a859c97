/**
 * Goal: "there was an equal one already" is not told as none: another device, or this one before its storage was cleared, may have made it. Method: the
 * documented answer to the first request of a key. PayPal's are in `paypal.test.ts`.
 */
import { expect, test } from 'vitest';
import { mangopay, mollie } from '../../src/entries/dialects.js';
import { pay } from '../support/world.js';
import { fixturesOf } from './support/fixtures.js';
import { plays, worldOf } from './support/suite.js';

test.each([
  ['mollie', mollie, 'duplicate-refund'],
  ['mangopay', mangopay, 'duplicated-refund'],
] as const)('%s: an equal refund came before, so the outcome is not none', async (name, make, documented) => {
  const dialect = make();
  const fixture = fixturesOf(name).find((one) => one.name === documented);
  if (!fixture) throw new Error(`no fixture ${documented}`);
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  expect((await world.end(tab, pay(once), plays(fixture))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
});
