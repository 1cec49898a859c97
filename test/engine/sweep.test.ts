/**
 * Goal: what nobody needs any more goes, a bit at a time, and nothing else does, however much of it is damaged. Method: hundreds of
 * records around their time, and settles that set a sweep off.
 */
import { describe, expect, test } from 'vitest';
import { encodeName } from '../../src/core/name.js';
import { type OnceRecord, seal } from '../../src/core/record.js';
import type { OnceEvent } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { DAY, MINUTE, newWorld, pay, rest } from '../support/world.js';

/** Settled operations between two sweeps. */
const EVERY = 50;

function scene() {
  const world = newWorld();
  const { tab, once } = world.open();
  world.server.otherwise = answers(201);
  let settles = 0;
  const settle = async (): Promise<void> => {
    // A sweep that found little to do rests for a minute.
    await world.clock.advance(MINUTE);
    await world.end(tab, pay(once, { operation: ['settle', ++settles] }));
    await rest();
  };
  const store = (count: number, more: Partial<OnceRecord>, damaged = false): string[] => {
    const [one] = world.records as [OnceRecord];
    return Array.from({ length: count }, (_, n) => {
      const id = `${more.state ?? 'settled'}-${damaged}-${n}`;
      const record = seal({ ...one, id, label: encodeName([id]), ...more });
      world.medium.set(id, damaged ? { ...record, key: 'x' } : record);
      return id;
    });
  };
  const there = (ids: readonly string[]): number => ids.filter((id) => world.medium.get(id) !== undefined).length;
  return { world, tab, once, settle, store, there };
}

describe('a sweep', () => {
  test('comes with the first settle, and then once in a while', async () => {
    const { world, settle, store, there } = scene();
    await settle();
    const old = store(1, { forgetAt: world.clock.now() - 1 });
    for (let settles = 1; settles < EVERY; settles++) await settle();
    expect(there(old)).toBe(1);
    await settle();
    expect(there(old)).toBe(0);
    const older = store(1, { forgetAt: world.clock.now() - 1 });
    await settle();
    expect(there(older)).toBe(1);
  });

  test('takes away no more than twice as many as have come, and only what is over', async () => {
    const { world, tab, settle, store, there } = scene();
    await settle();
    const now = world.clock.now();
    const over = store(3 * EVERY, { forgetAt: now - 1 });
    const kept = store(5, { state: 'retired', forgetAt: now });
    const next = tab.reload().once();
    await world.end(tab, pay(next, { operation: ['sweeps'] }));
    await rest();
    expect(there(over)).toBe(EVERY);
    expect(there(kept)).toBe(5);
  });

  test('goes round what is damaged, and is not stopped by it the next time', async () => {
    const { world, settle, store, there } = scene();
    await settle();
    const forgetAt = world.clock.now() - DAY;
    const damaged = store(2 * EVERY, { forgetAt }, true);
    for (let settles = 0; settles < EVERY; settles++) await settle();
    const over = store(EVERY, { state: 'retired', forgetAt: forgetAt + 1 });
    for (let settles = 0; settles < EVERY; settles++) await settle();
    expect(there(over)).toBe(0);
    expect(there(damaged)).toBe(2 * EVERY);
  });

  test('leaves what changed since it looked', async () => {
    const { world, tab, settle, store } = scene();
    await settle();
    const [later, again, gone] = store(3, { forgetAt: world.clock.now() - 1 });
    const { scan } = tab.store;
    Object.assign(tab.store, {
      scan: async (...call: Parameters<typeof scan>) => {
        const page = await scan(...call);
        const change = (id: string | undefined, more: Partial<OnceRecord>) =>
          world.medium.set(id as string, seal({ ...(world.medium.get(id as string) as OnceRecord), ...more }));
        change(later, { forgetAt: world.clock.now() });
        change(again, { revision: 99 });
        world.medium.set(gone as string, null);
        return page;
      },
    });
    for (let settles = 0; settles < EVERY; settles++) await settle();
    expect(world.medium.get(later as string)).toBeDefined();
    expect(world.medium.get(again as string)).toMatchObject({ revision: 99 });
  });

  test('says what it forgets that never settled, and of nothing else', async () => {
    const { world, once, settle, store } = scene();
    await settle();
    const told: OnceEvent[] = [];
    once.subscribe((event) => event.type === 'diagnostic' && told.push(event));
    store(1, { forgetAt: world.clock.now() - 1 });
    store(1, { state: 'pending', forgetAt: world.clock.now() - 1 });
    for (let settles = 0; settles < EVERY; settles++) await settle();
    expect(told).toMatchObject([{ code: 'unsettled-forgotten', operation: ['pending-false-0'] }]);
  });
});
