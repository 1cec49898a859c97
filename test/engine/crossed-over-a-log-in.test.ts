/**
 * Goal: a log-in or a log-out in the middle of another feature (polling, stored requests, a record in memory, a lost call without a name) causes no
 * second effect, and shows nobody what is not theirs. Method: tabs of one browser, in which keys count for guests and users alike.
 */
import { describe, expect } from 'vitest';
import { clear, move, type Once, type OnceOptions, pending } from '../../src/entries/index.js';
import { answers, charged, idle, lost, replays, textOf } from '../support/server.js';
import { CART, ONE, pay, resumed, SECOND, test, URL_, watched } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };

test('a record in memory, and a log-out: the next user sees nothing of it, and the press of the first one has its key', async ({ world, tab }) => {
  let user = 'ann';
  const once = tab.once({ namespace: () => user });
  tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
  const { outcome } = await world.end(tab, pay(once, { ...ONE, meta: { total: '10' } }), charged(lost()));
  expect(outcome).toMatchObject({ effect: 'unknown', storedIn: 'memory' });
  await world.run(clear(once));
  expect(await world.run(pending(once))).toMatchObject([{ meta: undefined, resumable: false }]);
  user = 'bob';
  expect(await world.run(pending(once))).toEqual([]);
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  user = 'ann';
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  expect(world.server.charged.size).toBe(2);
});

describe('accepted work of a guest who logs in', () => {
  const options = { accepted: 'poll', limits: { inProgressMs: 30 * SECOND } } as const;

  test.for(['before the press', 'while the guest polls'])('%s: the user polls its link, and nothing is sent again', async (when, { world, tab }) => {
    let user = 'guest';
    const once = tab.once({ ...options, namespace: () => user });
    world.server.plays(charged(answers(202, '', { location: '/jobs/1' })));
    world.server.otherwise = idle(answers(200, { state: 'running' }));
    const [press] = await world.begin(pay(once));
    if (when === 'before the press') await world.end(tab, press);
    else await world.clock.advance(3 * SECOND);
    user = 'ann';
    await world.run(move(once, 'guest'));
    world.server.otherwise = idle(answers(200, { state: 'done' }));
    if (when !== 'before the press') expect((await world.end(tab, press)).outcome).toMatchObject({ effect: 'unknown', reason: 'identity' });
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

test('the stored request of a guest who logs in and edits the form: it is sent once more to learn how it ended, and the edited one is not', async ({
  world,
}) => {
  const keeps = { keep: { request: true } } as const;
  const guest = world.open({ ...keeps, namespace: 'guest' });
  await world.end(guest.tab, pay(guest.once, ONE), charged(lost()));
  const user = world.open({ ...keeps, namespace: 'ann' });
  await world.run(move(user.once, 'guest'));
  const end = await world.end(user.tab, pay(user.once, { body: EDITED }), answers(422, { title: 'Idempotency-Key is already used' }), replays());
  expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', response: undefined, outcome: { effect: 'done' } });
  expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual([CART, EDITED, CART].map((one) => JSON.stringify(one)));
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a stored request whose listed token has expired: a 401 settles nothing, and a later token of the headers hook goes before it', async ({ world }) => {
  const options: OnceOptions = { namespace: 'ann', keep: { request: true, headers: ['authorization', 'x-account'] } };
  const { tab, once } = world.open(options);
  const headers = { authorization: 'old', 'x-account': 'a', 'content-type': 'application/json' };
  await world.end(tab, pay(once, { ...ONE, init: { headers } }), charged(lost()));
  const next = tab.reload();
  world.server.plays(answers(401), replays());
  expect(await world.run(resumed(next.once(options)))).toMatchObject([{ outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } }]);
  expect(await world.run(resumed(next.once({ ...options, headers: () => ({ authorization: 'new' }) })))).toMatchObject([{ outcome: { effect: 'done' } }]);
  expect(world.server.arrivals.map(({ headers: of }) => [of.get('authorization'), of.get('x-account')])).toEqual([
    ['old', 'a'],
    ['old', 'a'],
    ['new', 'a'],
  ]);
});

test('a lost call without a name, and an equal press in each of two tabs: one of them goes on with it', async ({ world, one, two }) => {
  const send = (once: Once) => watched(once.fetch(URL_, { method: 'POST', body: '{}', once: { limits: { attempts: 1 } } } as RequestInit));
  const { outcome } = await world.end(one.tab, send(one.once), charged(lost()));
  world.server.otherwise = charged(answers(201));
  const presses = [send(one.once), send(two.once)] as const;
  const ends = [await world.end(one.tab, presses[0]), await world.end(two.tab, presses[1])];
  expect(ends.filter((end) => end.outcome?.key === outcome?.key)).toHaveLength(1);
  expect(world.server.charged.size).toBe(2);
});
