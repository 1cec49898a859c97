/**
 * Goal: no answer of a real service lets an operation be charged twice, or told `none` or `done` where it may be otherwise. Method:
 * the sequences that did, each with the answer as that service gives it.
 */
import { expect, test } from 'vitest';
import { paypal } from '../../src/entries/dialects.js';
import { answers } from '../support/server.js';
import { newWorld, pay } from '../support/world.js';

test('what is done is not asked for again where another release had put its key elsewhere: this server may never have looked there', async () => {
  const world = newWorld();
  const tab = world.tab();
  world.server.plays(answers(201));
  await world.end(tab, pay(tab.once({ namespace: 'ann' })));
  const next = tab.reload();
  const end = await world.end(next, pay(next.once({ namespace: 'ann', dialect: paypal() })));
  expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  expect(world.server.arrivals).toHaveLength(1);
});
