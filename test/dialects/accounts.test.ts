/** Goal: the key of one account of a provider never goes to another account, where it is new. Method: two accounts at one URL, and a lost answer. */
import { expect, test } from 'vitest';
import { adyen } from '../../src/entries/dialects.js';
import { answers, charged, lost } from '../support/server.js';
import { pay } from '../support/world.js';
import { worldOf } from './support/suite.js';

const AUTHORISED = { resultCode: 'Authorised' };

test("with the account in the operation's name, each account has a key of its own", async () => {
  const dialect = adyen();
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  await world.end(tab, pay(once, { operation: ['pay', 'nl', 'c1'], limits: { attempts: 1 } }), charged(lost()));
  const end = await world.end(tab, pay(once, { operation: ['pay', 'de', 'c1'] }), answers(200, AUTHORISED));
  expect(end.outcome).toMatchObject({ effect: 'done', certain: true });
  expect(new Set(world.server.keys).size).toBe(2);
});

test('a dialect name for each account does not separate accounts: a release may have renamed the dialect of the same server', async () => {
  const world = worldOf(adyen());
  const nl = world.open({ dialect: { ...adyen(), name: 'adyen-nl' } });
  await world.end(nl.tab, pay(nl.once, { limits: { attempts: 1 } }), charged(lost()));
  const de = world.open({ dialect: { ...adyen(), name: 'adyen-de' } });
  await world.end(de.tab, pay(de.once), answers(200, AUTHORISED));
  expect(new Set(world.server.keys).size).toBe(1);
});
