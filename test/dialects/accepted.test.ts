/**
 * Goal: no call waits for the work behind a 202 if the server stores its 202, and answers work in progress in another way. Method: the first 202 is lost,
 * and the same one comes again.
 */
import { describe, expect } from 'vitest';
import type { DefinedDialect } from '../../src/entries/dialects.js';
import { clear, pending, run } from '../../src/entries/index.js';
import { type Arrival, answers, charged, during, type Entry, idle, lost } from '../support/server.js';
import { NAME, ONE, pay, watched } from '../support/world.js';
import { samples } from './support/all.js';
import { type Fixture, fixturesOf } from './support/fixtures.js';
import { plays, testOf } from './support/suite.js';

describe.each([
  ['adyen', 'transfer-accepted'],
  ['checkout', 'still-pending'],
  ['truelayer', 'payout-accepted'],
] as const)('%s', (name, fixture) => {
  const test = testOf(samples[name]?.dialect as DefinedDialect);
  test('a request whose 202 was lost is done when the same 202 comes again', async ({ world, tab, once }) => {
    const accepted = fixturesOf(name).find((one) => one.name === fixture);
    if (!accepted) throw new Error(`${name} has no fixture ${fixture}`);
    expect(await world.end(tab, pay(once), charged(lost()), plays(accepted, true))).toMatchObject({ status: 202, outcome: { effect: 'done', attempts: 2 } });
    expect(world.server.arrivals).toHaveLength(2);
  });

  const accepted = plays(fixturesOf(name).find((one) => one.name === fixture) as Fixture, true);

  test('it is done for a second tab, and for a press after a log-out, too', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, ONE), charged(lost()));
    const second = world.tab();
    const cleared = during(() => clear(once), accepted);
    const [{ key } = {}] = (await pending(once)) ?? [];
    expect((await world.end(second, pay(second.once({ dialect: samples[name]?.dialect })), cleared)).outcome).toMatchObject({ effect: 'done', key });
    expect((await world.end(tab, pay(once), accepted)).outcome).toMatchObject({ effect: 'done', key });
  });

  test('a run whose 202 was lost is done when the same 202 comes again', async ({ world, tab, once }) => {
    let runs = 0;
    const effect = ({ key }: { key: string }) => (++runs === 1 ? charged(lost()) : accepted)({ key } as Arrival, world.server);
    const end = await world.end(tab, watched(run(once, NAME, effect as () => Promise<Response>)));
    expect(end).toMatchObject({ status: 202, outcome: { effect: 'done', attempts: 2 } });
  });

  test("with accepted: 'poll' the end of the work counts instead", async ({ world, tab }) => {
    const once = tab.once({ dialect: samples[name]?.dialect, accepted: 'poll' });
    const linked: Entry = async (arrival, server) => {
      const response = await accepted(arrival, server);
      response.headers.set('location', '/jobs/1');
      return response;
    };
    expect((await world.end(tab, pay(once), idle(linked), idle(answers(200, { status: 'failed' })))).outcome).toMatchObject({ effect: 'none' });
  });
});
