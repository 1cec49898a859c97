/**
 * Goal: nobody says "none" of what `move` brought to the user while an attempt may still have its effect: the guest's last one, or one that the
 * user's press has made since. Method: pages with a common lock manager; the guest's page dies during its attempt, and the user's may, too.
 */
import { describe, expect } from 'vitest';
import { clear, move, type Once, resumeOne } from '../../src/entries/index.js';
import { answers, delayed, hangs, lost, replays } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { test as inWorld, NAME, newWorld, ONE, type Page, pay, rest, SECOND, URL_, type World, watched } from '../support/world.js';

const ANN = { namespace: 'ann' } as const;

/** A guest's page dies during its attempt, which ends 30 s after it left at most; the user's page moves it. The lease of the move ends after 45 s. */
async function moved(world: World, options: Parameters<World['open']>[0] = {}): Promise<Page> {
  const guest = world.open({ namespace: 'guest' });
  await world.dies(guest, ONE, hangs());
  const user = world.open({ ...ANN, ...options });
  await world.run(move(user.once, 'guest'));
  return user;
}

const test = inWorld.extend('user', ({ world }) => moved(world));
/** Any other page of the user. */
const another = (world: World, of: TabOptions = {}): Once => world.open(ANN, of).once;

inWorld(
  "the user's call without a name goes on at once with that of a guest, whose page died during its attempt, where a lock shows that",
  async ({ world }) => {
    const send = (once: Once) => watched(once.fetch(URL_, { method: 'POST', body: '{}' }));
    const guest = world.open({ namespace: 'guest' });
    await world.begin(send(guest.once), hangs());
    guest.tab.kill();
    const user = world.open(ANN);
    await world.run(move(user.once, 'guest'));
    expect(await world.end(user.tab, send(user.once), replays())).toMatchObject({ outcome: { type: 'replayed' }, ms: 0 });
    expect(new Set(world.server.keys).size).toBe(1);
  },
);

describe('the page that presses while the lease of the move holds dies, too', () => {
  /** 44 s after the guest's attempt left, one of the user leaves, which takes effect 25 s later. */
  async function diesLate(world: World, { tab, once }: Page): Promise<void> {
    await world.clock.advance(44 * SECOND);
    await world.dies({ tab, once }, ONE, delayed(25 * SECOND, answers(201)));
    await world.clock.advance(2 * SECOND);
  }

  test('settle takes no none while its attempt may arrive', async ({ world, user }) => {
    await diesLate(world, user);
    await world.refusesNone(another(world));
    await world.clock.advance(42 * SECOND);
    await world.refusesNone(another(world));
    expect(world.server.charged.size).toBe(1);
  });

  test('nor after a log-out, or after another log-in', async ({ world, user }) => {
    await diesLate(world, user);
    await world.run(clear(another(world)));
    await world.refusesNone(another(world));
    const { once } = world.open({ namespace: 'bob' });
    await world.run(move(once, 'ann'));
    await world.refusesNone(once);
    await world.refusesNone(once, 42 * SECOND);
  });

  test('settle takes none once it cannot arrive any more', async ({ world, user }) => {
    const { tab, once } = user;
    await world.clock.advance(20 * SECOND);
    await world.dies({ tab, once }, ONE, hangs());
    await world.clock.advance(46 * SECOND);
    await world.takesNone(another(world));
  });

  test('the none of reconcile does not count meanwhile: the next press sends the same key', async ({ world, user }) => {
    await diesLate(world, user);
    const { tab, once } = world.open({ ...ANN, reconcile: async () => 'none' });
    expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(await world.end(tab, pay(once), delayed(25 * SECOND, replays()))).toMatchObject({ outcome: { effect: 'done' } });
    expect(world.server.keys).toHaveLength(3);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('after three attempts: the last one counts', async ({ world, user }) => {
    const LATE = delayed(20 * SECOND, lost());
    world.server.plays(LATE, LATE, delayed(29 * SECOND, answers(201)));
    void pay(user.once);
    await world.clock.advance(43 * SECOND);
    expect(world.server.arrivals).toHaveLength(4);
    user.tab.kill();
    await world.clock.advance(20 * SECOND);
    await world.refusesNone(another(world));
    await world.clock.advance(10 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });
});

describe('a press that ends while the lease of the move holds', () => {
  test('delays none no longer than the move does', async ({ world, user }) => {
    await world.clock.advance(43 * SECOND);
    expect(await world.end(user.tab, pay(user.once, ONE), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.refusesNone(another(world));
    await world.clock.advance(3 * SECOND);
    await world.takesNone(another(world));
  });

  test('after a log-out during its attempt delays it no longer either', async ({ world, user }) => {
    await world.clock.advance(43 * SECOND);
    const [call] = await world.begin(pay(user.once, ONE), delayed(SECOND, lost()));
    await world.run(clear(another(world)));
    expect(await world.end(user.tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.refusesNone(another(world));
    await world.clock.advance(2 * SECOND);
    await world.takesNone(another(world));
  });

  test('stores when the server wants to be asked again', async ({ world, user }) => {
    const { once, tab } = user;
    await world.end(tab, pay(once, ONE), answers(503, {}, { 'retry-after': '600' }));
    expect(world.record()?.retryAt).toBeGreaterThan(world.clock.now() + 500 * SECOND);
  });
});

test('the none of reconcile does not count while the attempt of the guest may arrive, after an attempt of the user', async ({ world }) => {
  const { tab, once } = await moved(world, { reconcile: async () => 'none' });
  expect(await world.end(tab, pay(once, ONE), answers(422, { code: 'bad_card' }))).toMatchObject({ outcome: { effect: 'unknown' } });
  expect(world.record()?.state).toBe('pending');
});

test.for([false, true])(
  'in a store that no other page shares the lease of the move stays, after a press and a log-out (%s), too',
  async (logsOut, { world }) => {
    const user = { id: 'guest' };
    const { tab, once } = world.open({ namespace: () => user.id }, { claims: { shared: 'context', survives: 'context' } });
    await world.begin(pay(once, ONE), hangs());
    user.id = 'ann';
    await world.run(move(once, 'guest'));
    const [press] = await world.begin(pay(once, ONE), delayed(SECOND, lost()));
    if (logsOut) await world.run(clear(once));
    expect(await world.end(tab, press)).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.refusesNone(once);
    await world.takesNone(once, 30 * SECOND);
  },
);

test('nor when the call only asks', async ({ world }) => {
  const { tab, once } = await moved(world, { reconcile: async () => 'none' });
  expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject({ outcome: { effect: 'unknown' } });
  expect(world.record()?.state).toBe('pending');
});

inWorld('a press of the guest that goes on in the middle of a move keeps its record: the next move counts its attempt', async ({ world: _ }) => {
  let hits = 0;
  for (let crossing = 1; crossing < 30; crossing++) {
    const world = newWorld();
    const of = { locks: false };
    const [guest, user] = [world.open({ ...ONE, namespace: 'guest' }, of), world.open({ ...ANN, ...ONE }, of)];
    await world.end(guest.tab, pay(guest.once), lost());
    await world.clock.advance(60 * SECOND);
    user.tab.at(crossing, () => void pay(guest.once));
    world.server.otherwise = hangs();
    await world.run(move(user.once, 'guest'));
    guest.tab.kill();
    await rest();
    await world.run(move(user.once, 'guest'));
    if (world.server.arrivals.length === 2) {
      hits++;
      await expect(world.takesNone(user.once), `at ${crossing}`).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    }
  }
  expect(hits).toBeGreaterThan(0);
});
