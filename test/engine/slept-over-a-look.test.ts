/**
 * Goal: who slept between its look at the record and its attempt looks again, because what it saw is old. Method: two contexts without
 * locks; one freezes on its way back from the store, the other one ends the operation by hand and pays under another key.
 */
import { describe, expect } from 'vitest';
import { settle } from '../../src/entries/index.js';
import { answers, charged, delayed, idle, lost } from '../support/server.js';
import { MINUTE, NAME, newWorld, pay, rest, SECOND, test, type World } from '../support/world.js';

describe.each([
  ['a tab without locks', { locks: false }],
  ['a process', { server: true, locks: false }],
] as const)('%s', (_, of) => {
  test.for([
    ['that it is still its own', (world: World) => world.server.plays(idle(lost()))],
    ['that its first attempt is stored as sent', (_: World, tab: ReturnType<World['tab']>) => tab.connect(false)],
  ] as const)('that freezes while the store tells it %s sends nothing under a key that was ended meanwhile', async ([, begins]) => {
    const world = newWorld();
    const [slow, quick] = [world.open({}, of), world.open({}, of)];
    begins(world, slow.tab);
    const first = pay(slow.once);
    await rest();
    // On its way back from the store.
    slow.tab.at(2, () => slow.tab.freeze());
    slow.tab.connect(true);
    await world.clock.advance(20 * SECOND);
    await world.run(settle(quick.once, NAME, 'none'));
    world.server.plays(charged(answers(201)));
    expect(await world.end(quick.tab, pay(quick.once))).toMatchObject({ outcome: { effect: 'done' } });
    const sent = world.server.arrivals.length;
    world.server.otherwise = charged(answers(201));
    slow.tab.thaw();
    expect(await world.end(slow.tab, first)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
    expect(world.server.arrivals).toHaveLength(sent);
  });
});

test.for([undefined, 'poll'] as const)(
  'a tab that slept over a 202 (accepted: %s) is not done, while another one that went on meanwhile is still being served',
  async (accepted, { world }) => {
    const [one, two] = [world.open({ accepted }), world.open({ accepted })];
    world.server.plays(delayed(40 * SECOND, answers(202, '', { location: '/jobs/1' })), delayed(20 * SECOND, charged(answers(201))));
    const first = pay(one.once);
    await rest();
    one.tab.freeze();
    const second = pay(two.once);
    await world.clock.advance(42 * SECOND);
    expect(world.server.arrivals).toHaveLength(2);
    one.tab.thaw();
    expect(await world.end(one.tab, first)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown' } });
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'done' });
  },
);

test.for([true, false])(
  'who slept over the 202 to its only attempt, and cannot look at the record then, is not told that nothing was sent (locks: %s)',
  async (locks, { world }) => {
    const { tab, once } = world.open({ limits: { attempts: 1, leaseMs: 2 * MINUTE } }, { locks });
    world.server.plays(delayed(5 * SECOND, charged(answers(202))));
    const end = pay(once);
    await rest();
    tab.freeze();
    await world.clock.advance(20 * SECOND);
    tab.faults.next('look-fails');
    tab.thaw();
    expect((await world.end(tab, end)).outcome).toMatchObject({ effect: 'unknown', sent: 'yes' });
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: true });
  },
);
