/**
 * Goal: a screen shows what is stored now, however the looks of several tabs' messages come back. Method: a look that was slow
 * comes back behind a later one, while the screen shows, before and after, that there is nothing.
 */
import { expect } from 'vitest';
import { operation, refresh } from '../../src/entries/index.js';
import { memoryStore } from '../../src/stores/memory.js';
import { NAME, pay, rest, test, watched } from '../support/world.js';

test('nothing, then something that is gone again before the look at it comes back: nothing is shown', async ({ world }) => {
  const plain = memoryStore();
  let held: Promise<void> | undefined;
  const store = {
    ...plain,
    scope: plain.scope,
    read: async (id: Parameters<typeof plain.read>[0]) => {
      const wait = held;
      const found = await plain.read(id);
      await wait;
      return found;
    },
  };
  const here = world.open({ store });
  const there = world.open({ store: { ...plain, scope: plain.scope } });
  const screen = operation(here.once, NAME);
  screen.subscribe(() => {});
  await rest();
  expect(screen.state).toEqual({ phase: 'idle' });
  there.tab.online = false;
  const cancel = new AbortController();
  const press = watched(pay(there.once, { signal: cancel.signal }));
  await rest();
  let comes = (): void => {};
  held = new Promise((resolve) => {
    comes = resolve;
  });
  refresh(here.once);
  await rest();
  held = undefined;
  cancel.abort(new Error('cancelled'));
  await world.end(there.tab, press);
  refresh(here.once);
  await rest();
  expect(screen.state).toEqual({ phase: 'idle' });
  comes();
  await rest();
  expect(screen.state).toEqual({ phase: 'idle' });
});

test('a look that finds nothing once more gives the screen the same object: nothing has changed', async ({ once }) => {
  const screen = operation(once, NAME);
  screen.subscribe(() => {});
  await rest();
  const { state } = screen;
  expect(state).toEqual({ phase: 'idle' });
  refresh(once);
  await rest();
  expect(screen.state).toBe(state);
});
