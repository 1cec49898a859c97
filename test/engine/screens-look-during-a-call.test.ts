/**
 * Goal: a screen that looked at the store while a call, or a change by hand, was at its operation shows what is stored once that is
 * over, also where it ended without a word to screens. Method: the look comes back in the middle of it.
 */
import { expect } from 'vitest';
import { forget, type Once, operation } from '../../src/entries/index.js';
import { lost } from '../support/server.js';
import { NAME, pay, rest, test, watched } from '../support/world.js';

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
