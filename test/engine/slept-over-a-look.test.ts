/**
 * Goal: a driver that slept between its read of the record and its attempt reads again, because what it saw is old. Method: two contexts without locks. One
 * freezes while the answer of the store is on its way back; the other one ends the operation by hand and pays under another key.
 */
import { describe, expect } from 'vitest';
import { clear, settle } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, idle, lost, replays } from '../support/server.js';
import { MINUTE, NAME, newWorld, ONE, pay, resumed, SECOND, test, type World } from '../support/world.js';

describe.each([
  ['a tab without locks', { locks: false }],
  ['a process', { server: true, locks: false }],
] as const)('%s', (_, of) => {
  test.for([
    ['that the record is still its own', (world: World) => world.server.plays(idle(lost()))],
    ['that its first attempt is stored as sent', (_: World, tab: ReturnType<World['tab']>) => tab.connect(false)],
  ] as const)('that freezes while the store tells it %s sends nothing under a key that was ended meanwhile', async ([, begins]) => {
    const world = newWorld();
    const [slow, quick] = [world.open({}, of), world.open({}, of)];
    begins(world, slow.tab);
    const [first] = await world.begin(pay(slow.once));
    // It freezes while the answer of the store is on its way back.
    slow.tab.at(2, () => slow.tab.freeze());
    slow.tab.connect(true);
    await world.clock.advance(MINUTE);
    await world.run(settle(quick.once, NAME, 'none'));
    expect(await world.end(quick.tab, pay(quick.once), charged(answers(201)))).toMatchObject({ outcome: { effect: 'done' } });
    const sent = world.server.arrivals.length;
    world.server.otherwise = charged(answers(201));
    slow.tab.thaw();
    expect(await world.end(slow.tab, first)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
    expect(world.server.arrivals).toHaveLength(sent);
  });
});

test.for([undefined, 'poll'] as const)(
  'a tab that froze while a 202 came (accepted: %s) is not told done, because another tab has gone on and its attempt is still under way',
  async (accepted, { world }) => {
    const [one, two] = [world.open({ accepted }), world.open({ accepted })];
    world.server.plays(delayed(40 * SECOND, answers(202, '', { location: '/jobs/1' })), delayed(20 * SECOND, charged(answers(201))));
    const [first] = await world.begin(pay(one.once));
    one.tab.freeze();
    const second = pay(two.once);
    await world.clock.advance(42 * SECOND);
    expect(world.server.arrivals).toHaveLength(2);
    one.tab.thaw();
    expect(await world.end(one.tab, first)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', sent: 'yes' } });
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'done' });
  },
);

describe('a 202 that came late, so that the call reads its record again', () => {
  const JOB = { location: '/jobs/1' };
  const late = delayed(5 * SECOND, answers(202, '', JOB));
  const completed: Entry = (arrival, server) => (arrival.method === 'GET' ? answers(200, { status: 'completed' }) : replays())(arrival, server);

  test.for([
    ['the first attempt', undefined, 'look-fails', []],
    ['the first attempt', undefined, 'hang', []],
    ['an attempt after a 429', undefined, 'look-fails', [answers(429)]],
    ['the first attempt', 'poll', 'look-fails', []],
  ] as const)(
    'the store cannot say whose the record is (%s, accepted: %s, %s): the next attempt finds out, under the same key',
    async ([, accepted, fault, before], { world, tab }) => {
      const once = tab.once({ accepted });
      const broken: Entry = async (arrival, server) => {
        tab.faults.next(fault);
        return late(arrival, server);
      };
      world.server.otherwise = completed;
      expect((await world.end(tab, pay(once), ...before, broken)).outcome).toMatchObject({ type: 'replayed', effect: 'done', sent: 'yes' });
      expect(new Set(world.server.keys).size).toBe(1);
    },
  );

  test('the store cannot say whose the record is, at the last attempt: unknown, and the next press has the same key', async ({ world, tab, once }) => {
    const broken: Entry = async (arrival, server) => {
      tab.faults.next('look-fails');
      return late(arrival, server);
    };
    expect((await world.end(tab, pay(once, ONE), broken)).outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer', sent: 'yes' });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done' });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  // With accepted: 'settle', the 202 is the end, whichever driver holds the record.
  test.for([
    [undefined, { code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', sent: 'yes' } }],
    ['poll', { code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', sent: 'yes' } }],
    ['settle', { status: 202, outcome: { effect: 'done', sent: 'yes' } }],
  ] as const)('the user has logged out meanwhile (accepted: %s): done only if a 202 settles', async ([accepted, end], { world, tab }) => {
    const once = tab.once({ namespace: 'ann', accepted });
    const [call] = await world.begin(pay(once), late);
    expect(await world.run(clear(once))).toMatchObject({ kept: [{ name: NAME }] });
    expect(await world.end(tab, call)).toMatchObject(end);
  });

  test.for([
    ['poll', { code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } }],
    ['settle', { status: 202, outcome: { effect: 'done' } }],
  ] as const)('another tab has resumed and ended the operation meanwhile (accepted: %s): both calls are done', async ([accepted, end], { world }) => {
    const options = { namespace: 'ann', accepted, keep: { request: true } };
    const [one, two] = [world.open(options), world.open(options)];
    world.server.plays(delayed(40 * SECOND, answers(202, '', JOB)), delayed(SECOND, answers(202, '', JOB)));
    world.server.otherwise = completed;
    const [first] = await world.begin(pay(one.once));
    one.tab.freeze();
    const second = resumed(two.once);
    await world.clock.advance(42 * SECOND);
    one.tab.thaw();
    expect(await world.end(one.tab, first)).toMatchObject(end);
    expect(await world.run(second)).toMatchObject([{ outcome: { effect: 'done' } }]);
    expect(new Set(world.server.keys.filter((key) => key !== null)).size).toBe(1);
  });
});
