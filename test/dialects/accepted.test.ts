/** Goal: a server that stores its 202, and answers work in progress otherwise, is not waited for. Method: the first answer is lost, the same one comes again. */
import { describe, expect } from 'vitest';
import type { DefinedDialect } from '../../src/entries/dialects.js';
import { charged, lost } from '../support/server.js';
import { pay } from '../support/world.js';
import { samples } from './support/all.js';
import { fixturesOf } from './support/fixtures.js';
import { plays, testOf } from './support/suite.js';

describe.each([
  ['adyen', 'transfer-accepted'],
  ['checkout', 'still-pending'],
  ['truelayer', 'payout-accepted'],
] as const)('%s', (name, fixture) => {
  const test = testOf(samples[name]?.dialect as DefinedDialect);
  test('what was accepted before its answer was lost is done when the same 202 comes again', async ({ world, tab, once }) => {
    const accepted = fixturesOf(name).find((one) => one.name === fixture);
    if (!accepted) throw new Error(`${name} has no fixture ${fixture}`);
    const end = await world.end(tab, pay(once), charged(lost()), plays(accepted, true));
    expect(end).toMatchObject({ status: 202, outcome: { effect: 'done', attempts: 2 } });
    expect(world.server.arrivals).toHaveLength(2);
  });
});
