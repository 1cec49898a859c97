/**
 * Goal: a call that has sent something, slept, and finds when it wakes up that another tab has ended its operation, tells what it did itself, its
 * listeners hear of the end, and it gives the remembered answer, also while it polls. Method: two tabs, the first of which is frozen.
 */
import { describe, expect } from 'vitest';
import { subscribe } from '../../src/entries/index.js';
import { answers, charged, during, type Entry, lost, replays } from '../support/server.js';
import { type End, ONE, type Page, pay, SECOND, saying, test, type World } from '../support/world.js';

const KEPT = { namespace: 'ann', keep: { response: 'disk' } } as const;
const EDITED = { body: { cart: 'c1', amount: 12 } };

/** The first tab's call meets `first` and sleeps; the second tab ends its operation. Gives what the first tab tells when it wakes up, and its events. */
async function wakes(
  world: World,
  first: readonly Entry[],
  second: Entry,
  options: Parameters<World['open']>[0] = KEPT,
  of: Parameters<typeof pay>[1] = {},
): Promise<End & { readonly heard: readonly string[] }> {
  const [sleeper, other] = ['sleeper', 'other'].map((name): Page => world.open(options, { name, locks: false })) as [Page, Page];
  const heard: string[] = [];
  sleeper.tab.in(() => subscribe(sleeper.once, ({ type }) => void heard.push(type)));
  const [call] = await world.begin(pay(sleeper.once), ...first);
  sleeper.tab.freeze();
  await world.clock.advance(40 * SECOND);
  expect(await world.end(other.tab, pay(other.once, { ...ONE, ...of }), second)).toMatchObject({ outcome: { effect: 'done' } });
  sleeper.tab.thaw();
  return { ...(await world.end(sleeper.tab, call)), heard: heard.filter((type) => type !== 'diagnostic') };
}

describe('a call whose answer was lost', () => {
  test('counts its attempt, gives the stored answer, and tells its listeners the end', async ({ world }) => {
    const { status, outcome, heard } = await wakes(world, [lost()], answers(201, { id: 'ch_1' }));
    expect([status, outcome]).toMatchObject([201, { type: 'replayed', from: 'store', attempts: 1, sent: 'yes', resumed: false }]);
    expect(heard).toEqual(['attempt', 'wait', 'settled']);
  });

  test('does so if no answer is stored, too', async ({ world }) => {
    const { code, outcome, heard } = await wakes(world, [lost()], answers(201), {});
    expect([code, outcome]).toMatchObject(['ERR_ONCE_ALREADY_SETTLED', { type: 'replayed', from: 'store', attempts: 1, sent: 'yes' }]);
    expect(heard).toEqual(['attempt', 'wait', 'settled']);
  });

  test('gets no answer to another payload', async ({ world }) => {
    const { code, outcome } = await wakes(world, [lost()], answers(201, { id: 'ch_1' }), KEPT, EDITED);
    expect([code, outcome]).toMatchObject(['ERR_ONCE_ALREADY_SETTLED', { effect: 'done', attempts: 1 }]);
  });
});

test('a call that polls the work behind a 202 gives the stored answer', async ({ world }) => {
  const poll = { ...KEPT, accepted: 'poll' } as const;
  const running = [answers(202, {}, { location: '/jobs/1' }), answers(200, { status: 'running' })];
  const { status, response, outcome, heard } = await wakes(world, running, answers(200, { status: 'succeeded' }), poll);
  expect([status, outcome]).toMatchObject([200, { type: 'replayed', from: 'store', attempts: 1 }]);
  expect(await response?.json()).toEqual({ status: 'succeeded' });
  expect(heard.at(-1)).toBe('settled');
});

describe('a call of an edited form, to which the server says that it holds another payload', () => {
  const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });

  /** The edited form's call sleeps before it sends the earlier payload again, and meanwhile something becomes of the operation elsewhere. */
  async function looks(world: World, meanwhile: (other: Page) => Promise<unknown>): Promise<End> {
    const asked: unknown[] = [];
    const { tab, once } = world.open({ ...KEPT, reconcile: saying(asked, 'none') }, { locks: false });
    await world.end(tab, pay(once, ONE), charged(lost()));
    world.server.plays(during(() => tab.freeze(), MISMATCH));
    const [call] = await world.begin(pay(once, EDITED));
    await world.clock.advance(40 * SECOND);
    await meanwhile(world.open(KEPT, { locks: false }));
    tab.thaw();
    const end = await world.end(tab, call);
    expect(asked).toEqual([]);
    return end;
  }

  test('hears that another tab has ended the operation', async ({ world }) => {
    const { code, outcome } = await looks(world, ({ tab, once }) => world.end(tab, pay(once, ONE), replays()));
    expect([code, outcome]).toMatchObject(['ERR_ONCE_ALREADY_SETTLED', { type: 'replayed', effect: 'done', attempts: 1 }]);
  });

  test('hears that another tab has taken the operation over', async ({ world }) => {
    expect(await looks(world, ({ tab, once }) => world.end(tab, pay(once, ONE), lost()))).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
  });
});
