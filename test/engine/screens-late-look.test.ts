/**
 * Goal: a screen shows what is stored now, however the looks of several tabs' messages come back. Method: a look that was slow
 * comes back behind a later one, while the screen shows, before and after, that there is nothing.
 */
import { describe, expect } from 'vitest';
import { close, extend, operation, refresh } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { memoryStore } from '../../src/stores/memory.js';
import { charged, lost, replays } from '../support/server.js';
import { NAME, newWorld, pay, rest, SECOND, test, watched } from '../support/world.js';

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

describe('a look that fails', () => {
  const open = async () => {
    const world = newWorld();
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    let looks = 0;
    const read = tab.store.read;
    const counting: typeof read = (id) => {
      looks++;
      return read(id);
    };
    Object.assign(tab.store, { read: counting });
    const screen = operation(once, NAME);
    return { world, tab, once, screen, looks: () => looks };
  };

  test('is made again until it does not: an open payment is shown', async () => {
    const { world, tab, screen, looks } = await open();
    tab.faults.next('look-fails', 'look-fails');
    screen.subscribe(() => {});
    await rest();
    expect(screen.state).toEqual({ phase: 'loading' });
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toEqual({ phase: 'loading' });
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
    await world.clock.advance(10 * SECOND);
    expect(looks()).toBe(3);
  });

  test('also one that was made because another tab said so', async () => {
    const { world, tab, once, screen } = await open();
    screen.subscribe(() => {});
    await rest();
    const other = world.open();
    await world.end(other.tab, pay(other.once), replays());
    tab.faults.next('look-fails');
    refresh(once);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toMatchObject({ phase: 'settled' });
  });

  test('by a client that is closed since is made again by the next one', async () => {
    const { world, tab, once, screen } = await open();
    tab.faults.next('look-fails', 'look-fails');
    const before = extend(once, {});
    const off = operation(before, NAME).subscribe(() => {});
    await rest();
    off();
    await close(before);
    screen.subscribe(() => {});
    await world.clock.advance(2 * SECOND);
    expect(screen.state).toMatchObject({ phase: 'unsettled' });
  });

  test.each([
    ['is made no more than once in two seconds, however often the screen is told to look', 4, () => {}],
    ['is not made again for a screen that is gone', 3, ({ off }: { off: () => void }) => off()],
    ['nor by a client that is closed', 3, ({ once }: { once: Once }) => close(once)],
  ])('%s', async (_, expected, act) => {
    const { world, tab, once, screen, looks } = await open();
    tab.faults.rate('look-fails', 1);
    const off = screen.subscribe(() => {});
    await rest();
    refresh(once);
    await rest();
    refresh(once);
    await rest();
    await act({ once, off });
    await world.clock.advance(2 * SECOND);
    expect(looks()).toBe(expected);
    off();
  });
});

test('a look that failed, and a log-out before the next one: the screen of the next user shows nothing of it', async ({ world, tab }) => {
  let user = 'ann';
  const namespace = () => user;
  const gone = world.open({ namespace, limits: { attempts: 1 } });
  await world.end(gone.tab, pay(gone.once), charged(lost()));
  gone.tab.kill();
  const screen = operation(tab.once({ namespace }), NAME);
  tab.faults.next('look-fails');
  screen.subscribe(() => {});
  await rest();
  expect(screen.state).toEqual({ phase: 'loading' });
  user = 'bob';
  await world.clock.advance(3 * SECOND);
  expect(screen.state).toEqual({ phase: 'idle' });
  user = 'ann';
  await world.clock.advance(3 * SECOND);
  expect(screen.state).toMatchObject({ phase: 'unsettled' });
});
