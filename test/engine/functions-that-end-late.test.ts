/**
 * Goal: what a call leaves in the record for a function of `run` that goes on after it is taken away when that function has ended, and only then; and nothing
 * that stands for anybody else is taken away with it. Method: processes on one store, with functions that ignore their signals and end when the test says so.
 */
import { expect, test } from 'vitest';
import { type Attempt, type Once, type RunOptions, run, settle } from '../../src/entries/index.js';
import { memoryStore } from '../../src/stores/memory.js';
import { slow } from '../support/slow-function.js';
import { MINUTE, NAME, newWorld, rest, SECOND, watched } from '../support/world.js';

const PROCESS = { server: true, locks: false } as const;
const ONE = { limits: { attempts: 1, attemptMs: 300 } } as const;
const BUSY = { code: 'ERR_ONCE_BUSY' };

function scene() {
  const world = newWorld();
  const open = () => world.open({ namespace: 'ann' }, PROCESS);
  const [one, two] = [open(), open()];
  const begins = (at: Once, effect: (attempt: Attempt) => unknown, more: RunOptions<unknown> = {}) =>
    watched(run(at, NAME, effect, { ...ONE, ...more })) as Promise<never>;
  const call = (effect: (attempt: Attempt) => unknown, more: RunOptions<unknown> = {}) => world.end(one.tab, begins(one.once, effect, more));
  return { world, one, two, begins, call, none: () => world.run(settle(two.once, NAME, 'none')) };
}

test('a function that has ended with an error leaves nothing', async () => {
  const { call, none } = scene();
  expect((await call(() => Promise.reject(new Error('no answer')))).outcome).toMatchObject({ effect: 'unknown' });
  await none();
});

test('in a page whose store no other context shares, a call ends as usual, although its function goes on', async () => {
  const { world, tab, once } = newWorld().open({ namespace: 'ann', store: memoryStore() });
  const end = await world.end(tab, watched(run(once, NAME, slow().effect, ONE)) as Promise<never>);
  expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'no-answer' });
  await world.refusesNone(once);
});

test("the end of an earlier key's function takes nothing from a later one's", async () => {
  const { world, one, call, none } = scene();
  const [first, second] = [slow(), slow()];
  await call(first.effect);
  await world.run(settle(one.once, NAME, 'done'));
  await call(second.effect, { repeat: 'always' });
  await first.end();
  await expect(none()).rejects.toMatchObject(BUSY);
  await second.end();
  await none();
});

test('a function that ends while the next call reads the record takes nothing from its function', async () => {
  const { world, one, begins, call, none } = scene();
  const [first, second] = [slow(), slow()];
  await call(first.effect);
  one.tab.faults.next({ name: 'slow', ms: SECOND });
  const next = begins(one.once, second.effect);
  await rest();
  await first.end();
  await world.end(one.tab, next);
  await expect(none()).rejects.toMatchObject(BUSY);
  await second.end();
  await none();
});

test('a function that ends while its call stores what it leaves takes that away afterwards', async () => {
  const { world, one, begins, none } = scene();
  const { effect, end } = slow();
  const call = begins(one.once, effect);
  await rest();
  one.tab.faults.next({ name: 'slow', ms: SECOND });
  await world.clock.advance(500);
  await end();
  expect((await world.end(one.tab, call)).outcome).toMatchObject({ effect: 'unknown' });
  await rest();
  await none();
});

test('a function that ends while another process drives takes nothing from that process', async () => {
  const { world, one, two, begins, call } = scene();
  const [first, second] = [slow(), slow()];
  await call(first.effect);
  const theirs = begins(two.once, second.effect, { limits: { attempts: 1, attemptMs: 30 * SECOND } });
  await rest();
  await first.end();
  await world.refusesNone(one.once);
  await second.end();
  await world.end(two.tab, theirs);
  expect(world.record()).toMatchObject({ state: 'settled' });
});

test.for<[string, () => { effect: (attempt: Attempt) => unknown; end: () => Promise<void> }]>([
  ['long after its call', slow],
  ['at its signal', () => ({ effect: ({ signal }) => new Promise((resolve) => void signal.addEventListener('abort', resolve)), end: rest })],
])('when the function has ended, %s, the attempt of an earlier process that died may still arrive', async ([, how]) => {
  const { world, begins, call, none } = scene();
  const dead = world.open({ namespace: 'ann' }, PROCESS);
  await world.begin(begins(dead.once, slow().effect, { limits: { attempts: 1, attemptMs: 10 * MINUTE, totalMs: 10 * MINUTE } }));
  dead.tab.kill();
  await world.clock.advance(MINUTE);
  const { effect, end } = how();
  expect((await call(effect)).outcome).toMatchObject({ effect: 'unknown' });
  await end();
  await expect(none()).rejects.toMatchObject(BUSY);
  await world.clock.advance(11 * MINUTE);
  await none();
});
