/**
 * Goal: a press that never left is withdrawn (its caller gives up, the app settles it as none, or forgets it) while a worker is about to send it. Either
 * nothing of it goes out afterwards, or the withdrawal is refused; in no case is the next press a second effect. Method: the withdrawal comes at each
 * crossing of the worker to storage, locks and the network, and back.
 */
import { describe, expect } from 'vitest';
import { forget, type Outcome, resumeInBackground, settle } from '../../src/entries/index.js';
import { honest, lost } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { MINUTE, NAME, newWorld, pay, rest, SECOND, test, watched } from '../support/world.js';

const CROSSINGS_MAX = 60;
const PLACES: Readonly<Record<string, TabOptions>> = { 'with locks': {}, 'with leases': { locks: false, claims: { shared: 'cluster', ownClock: true } } };

/** Plays it once. Gives what the withdrawal came to; `undefined` if the worker has ended without so many crossings. */
async function play(how: 'abort' | 'settle' | 'forget', of: TabOptions, count: number): Promise<'withdrawn' | 'refused' | undefined> {
  const world = newWorld();
  world.server.otherwise = honest([lost()]);
  const options = { namespace: 'ann' };
  const first = world.tab(of);
  first.online = false;
  const left = new AbortController();
  const background = { untilMs: world.clock.now() + 10 * MINUTE };
  const told = new Promise<Outcome>((onOutcome) => {
    watched(pay(first.once(options), { background, signal: left.signal, onOutcome, limits: { offlineWaitMs: 4 * MINUTE, totalMs: 5 * MINUTE } }));
  });
  await rest();
  // Only a caller who is still there can give up. Otherwise the page is gone, its press is stored as never sent, and its lease is over.
  if (how !== 'abort') {
    first.kill();
    await world.clock.advance(2 * MINUTE);
  }
  const page = world.open(options, of);
  const worker = world.open({ ...options, limits: { totalMs: 2 * SECOND } }, { ...of, name: 'worker' });
  const withdraw = async (): Promise<'withdrawn' | 'refused'> => {
    if (how === 'abort') left.abort();
    const done = how === 'abort' ? told : how === 'settle' ? settle(page.once, NAME, 'none') : forget(page.once, NAME);
    return done.then(
      (outcome) => (outcome && outcome.effect !== 'none' ? 'refused' : 'withdrawn'),
      () => 'refused',
    );
  };
  let withdrawn: ReturnType<typeof withdraw> | undefined;
  let sentBefore = 0;
  worker.tab.at(count, () => {
    sentBefore = world.server.arrivals.length;
    withdrawn = withdraw();
  });
  await world.run(resumeInBackground(worker.once));
  const end = withdrawn && (await world.run(withdrawn));
  const wasDone = world.server.charged.size > 0;
  if (!end) left.abort();
  // What is done may be forgotten: the app says that the name stands for another effect.
  if (end === 'withdrawn' && (how !== 'forget' || sentBefore === 0)) expect(wasDone, `${how} at ${count}`).toBe(false);
  if (how === 'forget' && wasDone) return end;
  expect((await world.end(page.tab, pay(page.once))).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.charged.size, `${how} at ${count}`).toBe(1);
  return end;
}

describe.each(Object.entries(PLACES))('%s', (_, of) => {
  test.for(['abort', 'settle', 'forget'] as const)('%s, at each crossing of the worker', async (how) => {
    const ends = new Set<string>();
    let count = 1;
    for (; count < CROSSINGS_MAX; count++) {
      const end = await play(how, of, count);
      if (!end) break;
      ends.add(end);
    }
    // Early ones are taken back, and late ones come too late. For a caller who is still there the worker waits, and so none of those is too late.
    expect([...ends].sort()).toEqual(how === 'abort' ? ['withdrawn'] : ['refused', 'withdrawn']);
    expect(count).toBeLessThan(CROSSINGS_MAX);
  });
});
