/**
 * Goal: `close` and a listener that settles what it hears of: the store is closed when the word is stored, the word is never half
 * taken, and neither waits for the other without end.
 */
import { describe, expect } from 'vitest';
import { close, extend, type Once, settle, subscribe } from '../../src/entries/index.js';
import { charged, hangs, lost } from '../support/server.js';
import { NAME, ONE, pay, rest, SECOND, test } from '../support/world.js';

/** Settles the operation, by `by`, as soon as `once` tells that it is unknown; gives what became of that. */
function settling(once: Once, effect: 'done' | 'none', also?: () => void, by = once): Promise<unknown> {
  return new Promise((resolve) => {
    subscribe(once, ({ type }) => {
      if (type !== 'unknown') return;
      also?.();
      settle(by, NAME, effect).then(() => resolve('stored'), resolve);
    });
  });
}

describe('settled in a listener of the end that close brings', () => {
  test.for(['done', 'none'] as const)('%s: it is stored before the store is closed', async (effect, { world, tab, once }) => {
    const word = settling(once, effect);
    world.server.plays(effect === 'done' ? charged(lost()) : lost());
    const call = pay(once);
    await rest();
    const closed = close(once);
    expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await world.run(closed);
    expect(await word).toBe('stored');
    expect(world.record()).toMatchObject({ state: effect === 'done' ? 'settled' : 'retired', ending: { effect } });
  });

  test('the same by a client that was extended, closed with the one whose store it has', async ({ world, tab, once }) => {
    const child = tab.in(() => extend(once, {}));
    const word = settling(child, 'done');
    world.server.plays(charged(lost()));
    const call = pay(child);
    await rest();
    const closed = close(once);
    await world.end(tab, call);
    await world.run(closed);
    expect(await word).toBe('stored');
  });
});

test('a listener that closes the client and settles, both at once', async ({ world }) => {
  const { tab, once } = world.open(ONE);
  let closed: Promise<void> | undefined;
  const word = settling(once, 'done', () => {
    closed = close(once);
  });
  await world.end(tab, pay(once), charged(lost()));
  await world.run(closed as Promise<void>);
  expect(await word).toBe('stored');
});

test('by a client that was extended, in a listener of the one that it was extended from', async ({ world, tab, once }) => {
  const child = tab.in(() => extend(once, {}));
  const word = settling(once, 'done', undefined, child);
  world.server.plays(charged(lost()));
  const call = pay(once);
  await rest();
  const closed = close(once);
  await world.end(tab, call);
  await world.run(closed);
  expect(await word).toBe('stored');
});

test('close waits no longer than the attempt under way', async ({ world }) => {
  const { tab, once } = world.open({ limits: { attemptMs: 5 * SECOND } });
  world.server.plays(hangs());
  const call = pay(once);
  await rest();
  const at = world.clock.now();
  await world.run(close(once));
  expect(world.clock.now() - at).toBe(5 * SECOND);
  expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'unknown' });
});
