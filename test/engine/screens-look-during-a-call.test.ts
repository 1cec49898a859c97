/**
 * Goal: a screen that looked at the store while a call, or a change by hand, was at its operation shows what is stored once that is
 * over, also where it ended without a word to screens. Method: the look comes back in the middle of it.
 */
import { describe, expect } from 'vitest';
import { clear, forget, type Once, operation } from '../../src/entries/index.js';
import { answers, lost, replays } from '../support/server.js';
import { NAME, newWorld, pay, rest, test, type World, watched } from '../support/world.js';

test.for([
  ['a forget that is refused', (once: Once) => forget(once, NAME), 'none'],
  ['a call whose record cannot be written', (once: Once) => pay(once), 'fail-before-commit'],
] as const)('%s: the screen says that it is unsettled', async ([_, act, fault], { world }) => {
  await world.interrupted(lost());
  const { tab, once } = world.open();
  const screen = operation(once, NAME);
  screen.subscribe(() => {});
  tab.faults.next(fault);
  const ended = watched(act(once) as Promise<unknown>);
  expect(screen.state).toEqual({ phase: 'loading' });
  await expect(world.run(ended)).rejects.toThrow();
  await rest();
  expect(screen.state).toMatchObject({ phase: 'unsettled' });
});

describe('a call that has lost its record meanwhile leaves on the screen what is stored by then', () => {
  /** A call that waits for its second attempt, and a screen of it; another tab acts meanwhile. */
  const loses = async (act: (world: World, other: ReturnType<World['open']>) => Promise<unknown>) => {
    const world = newWorld();
    const [here, there] = [world.open(), world.open()];
    const screen = operation(here.once, NAME);
    screen.subscribe(() => {});
    world.server.plays(answers(503, '', { 'retry-after': '60' }));
    const call = pay(here.once);
    await rest();
    await act(world, there);
    expect(await world.end(here.tab, call)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST' });
    await rest();
    return screen.state;
  };

  test('nothing, after a log-out that forgets', async () => {
    expect(await loses((world, { once }) => world.run(clear(once, { unsettled: 'forget' })))).toEqual({ phase: 'idle' });
  });

  test('an open payment, after a log-out that keeps it', async () => {
    expect(await loses((world, { once }) => world.run(clear(once)))).toMatchObject({ phase: 'unsettled' });
  });

  test('done, where another tab has taken it up, and ended it under the next key', async () => {
    const state = await loses(async (world, { tab, once }) => {
      world.server.plays(replays(402), answers(201));
      world.locks.die(world.tabs[0] as object);
      expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'none' });
      expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    });
    expect(state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  });
});
