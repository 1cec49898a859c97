/** Goal: each sign of wrong set-up is told, with its code, a sentence and a link. Here are those of records; those of servers and browsers stand in `test/browser/engine`. */
import { describe, expect, test } from 'vitest';
import type { Once, OnceEvent } from '../../src/entries/index.js';
import { answers, charged, lost } from '../support/server.js';
import { DAY, NAME, newWorld, pay, rest } from '../support/world.js';

const ONE = { limits: { attempts: 1 } } as const;

function listening(once: Once): Extract<OnceEvent, { type: 'diagnostic' }>[] {
  const told: Extract<OnceEvent, { type: 'diagnostic' }>[] = [];
  once.subscribe((event) => event.type === 'diagnostic' && told.push(event));
  return told;
}

describe('a diagnostic', () => {
  test('move-conflict: both namespaces have an unsettled operation of one name', async () => {
    const world = newWorld();
    const tab = world.tab();
    const [guest, user] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    world.server.plays(charged(lost()), lost());
    await world.end(tab, pay(guest, ONE));
    await world.end(tab, pay(user, ONE));
    const told = listening(user);
    await world.run(user.move('guest'));
    expect(told).toMatchObject([{ code: 'move-conflict', operation: NAME }]);
  });

  test('unsettled-forgotten: nobody settled it for thirty days', async () => {
    const world = newWorld();
    const { tab, once } = world.open();
    world.server.plays(charged(lost()), answers(201, { id: 'ch_2' }));
    await world.end(tab, pay(once, ONE));
    const told = listening(once);
    await world.clock.advance(32 * DAY);
    await world.end(tab, pay(once, { operation: ['pay', 'another'] }));
    await rest();
    expect(told).toMatchObject([{ code: 'unsettled-forgotten', operation: NAME }]);
    expect(await world.run(once.pending())).toEqual([]);
  });

  test('is told once for each place, with a sentence and a link', async () => {
    const world = newWorld();
    const { tab, once } = world.open();
    const told = listening(once);
    world.server.otherwise = answers(201, {}, { 'idempotency-status': 'ignored' });
    await world.end(tab, pay(once, { operation: ['pay', 1] }));
    await world.end(tab, pay(once, { operation: ['pay', 2] }));
    expect(told).toMatchObject([{ code: 'key-ignored', message: expect.stringMatching(/^[a-z].* \(docs\/diagnostics\.md#key-ignored; .*\)$/) }]);
  });
});
