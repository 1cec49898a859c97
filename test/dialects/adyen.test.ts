/**
 * Goal: an error that Adyen keeps for a key is not asked for again until the key is too old. Method: `support/suite.ts`, and errors with and without the
 * header `transient-error`.
 */
import { expect, test } from 'vitest';
import { adyen } from '../../src/entries/dialects.js';
import { charged } from '../support/server.js';
import { pay } from '../support/world.js';
import { fixturesOf } from './support/fixtures.js';
import { plays, worldOf } from './support/suite.js';

const dialect = adyen();
const documented = (name: string) => {
  const fixture = fixturesOf('adyen').find((one) => one.name === name);
  if (!fixture) throw new Error(`no fixture ${name}`);
  return plays(fixture);
};

test('an error without `transient-error` is kept: it is asked for once, and reconcile tells whether the payment was made', async () => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect, reconcile: async () => 'done' as const });
  expect(await world.end(tab, pay(once), charged(documented('stored-500')))).toMatchObject({ outcome: { effect: 'done', from: 'reconcile' } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('a transient error is sent again with the same key', async () => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const end = await world.end(tab, pay(once), documented('transient-500'), charged(documented('processed')));
  expect(end.outcome).toMatchObject({ effect: 'done', attempts: 2 });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('an error of a gateway in front of Adyen is sent again, too', async () => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const gateway = plays({ status: 500, headers: { 'content-type': 'text/html' }, body: '<html>oops</html>' });
  expect((await world.end(tab, pay(once), gateway, charged(documented('processed')))).outcome).toMatchObject({ effect: 'done', attempts: 2 });
});
