/**
 * Goal: a page that knows only the link of a 202 never takes the question after the work for the request itself. Method: the page
 * asks after a reload, a log-out in another tab drops the link, and the same page is pressed again.
 */
import { describe, expect, test } from 'vitest';
import { clear, resumeOne } from '../../src/entries/index.js';
import { answers, charged, idle, textOf } from '../support/server.js';
import { CART, NAME, newWorld, pay, SECOND, watched } from '../support/world.js';

const OPTIONS = { namespace: 'ann', accepted: 'poll', limits: { inProgressMs: 5 * SECOND } } as const;
const EDITED = { ...CART, amount: 20 };

/** The work goes on, in the page that asked for it and in the next one; then another tab logs out. */
async function asked(how: 'resume' | 'press') {
  const world = newWorld();
  const { tab, once } = world.open(OPTIONS);
  world.server.plays(charged(answers(202, '', { location: '/jobs/1' })));
  world.server.otherwise = idle(answers(200, { state: 'running' }));
  await world.end(tab, pay(once));
  const next = tab.reload();
  const later = next.once(OPTIONS);
  await world.end(next, how === 'press' ? pay(later) : watched(resumeOne(later, NAME)));
  await world.run(clear(world.open(OPTIONS).once));
  world.server.otherwise = undefined;
  return { world, next, later };
}

describe.each(['resume', 'press'] as const)('after a %s that only asked after the work', (how) => {
  test('the same press sends the request with its body', async () => {
    const { world, next, later } = await asked(how);
    await world.end(next, pay(later), answers(201, '{}', { 'idempotent-replayed': 'true' }));
    expect(await textOf(world.server.arrivals.at(-1) as never)).toBe(JSON.stringify(CART));
  });

  test('an edited one is not told that the earlier one is done because its link gave a document', async () => {
    const { world, next, later } = await asked(how);
    world.server.plays(answers(422, { title: 'Idempotency-Key is already used' }));
    // A link that is asked as if it were the request: its document would pass for the answer.
    world.server.otherwise = (arrival, server) =>
      (arrival.method === 'GET' ? idle(answers(200, { state: 'failed' })) : answers(422, { title: 'Idempotency-Key is already used' }))(arrival, server);
    const { outcome } = await world.end(next, pay(later, { body: EDITED }));
    expect(outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
  });
});
