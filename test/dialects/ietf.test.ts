/** Goal: the dialect follows the draft to the letter. Method: `support/suite.ts`, and the header as it arrives. */
import { expect } from 'vitest';
import { ietf } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { pay } from '../support/world.js';
import { plays, testOf, worldOf } from './support/suite.js';

const dialect = ietf();
const test = testOf(dialect);
const CREATED = plays({ status: 201, headers: {} }, true);

test('the key is a string of RFC 8941, and unquoted in the outcome', async ({ world, tab, once }) => {
  const { outcome } = await world.end(tab, pay(once), CREATED);
  expect(world.server.arrivals[0]?.headers.get('idempotency-key')).toBe(`"${outcome?.key}"`);
});

test.each(['mine-1', '"mine-1"'])('a caller who sets %s itself sends that key, in the form that the dialect says', async (header) => {
  const world = worldOf(dialect);
  const { tab, once } = world.open({ dialect });
  const { outcome } = await world.end(tab, pay(once, { init: { headers: { 'idempotency-key': header } } }), CREATED);
  expect(outcome).toMatchObject({ key: 'mine-1', effect: 'done' });
  expect(world.server.arrivals[0]?.headers.get('idempotency-key')).toBe('"mine-1"');
});

test('a client that changes to another dialect goes on with the quoted form', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  const next = tab.reload();
  await world.end(next, pay(next.once()), CREATED);
  const [first, second] = world.server.arrivals.map(({ headers }) => headers.get('idempotency-key'));
  expect(second).toBe(first);
  expect(second).toMatch(/^".+"$/);
});
