/**
 * Goal: where several drivers of one operation died, or one died and the next one was moved, the last attempt of the first one still counts:
 * nobody says "none" until it has ended. Method: processes on one store that knows which of them are gone, and a first attempt that takes long.
 */
import { describe, expect } from 'vitest';
import { move, type Once } from '../../src/entries/index.js';
import { answers, delayed, during, hangs, lost } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { LEAN } from '../support/texts.js';
import { test as inWorld, ONE, type Page, pay, SECOND, type World } from '../support/world.js';

const PROCESS = { server: true, locks: false } as const;

/** A process whose store can tell that other processes are gone. `dead`: it is one of those. */
function process(world: World, namespace: string, dead: Set<string>, name: string): Page {
  const tab = world.tab({ ...PROCESS, name });
  const store = { ...tab.store, holder: async () => name, isGone: async (other: string) => dead.has(other) };
  return { tab, once: tab.once({ namespace, store }) };
}

const test = inWorld.extend('dead', () => new Set<string>());

/** The first process sends an attempt that may take 100 s and arrives after 95, and dies at once. */
async function firstDies(world: World, dead: Set<string>): Promise<void> {
  const first = process(world, 'shop', dead, 'first');
  await world.dies(first, { limits: { attempts: 1, attemptMs: 100 * SECOND } }, delayed(95 * SECOND, answers(201)));
  dead.add('first');
  await world.clock.advance(SECOND);
}

/** Another one goes on with it. */
async function goesOn(world: World, dead: Set<string>, name = 'second'): Promise<Tab> {
  const { tab, once } = process(world, 'shop', dead, name);
  const { length } = world.server.arrivals;
  await world.begin(pay(once, ONE), hangs());
  expect(world.server.arrivals).toHaveLength(length + 1);
  return tab;
}

// No store of a page can tell who is gone, so its build does not ask.
if (!LEAN)
  describe('a process that is gone', () => {
    test('had gone on with the operation of one that is gone, too: the attempt of the first one counts', async ({ world, dead }) => {
      await firstDies(world, dead);
      (await goesOn(world, dead)).kill();
      dead.add('second');
      const { once } = process(world, 'shop', dead, 'third');
      await world.refusesNone(once, SECOND);
      await world.refusesNone(once, 90 * SECOND);
      await world.clock.advance(10 * SECOND);
      expect(world.server.charged.size).toBe(1);
      await world.takesNone(once);
    });

    test('had sent it before two others that are gone: the attempt of the first one counts', async ({ world, dead }) => {
      await firstDies(world, dead);
      for (const name of ['second', 'third']) {
        (await goesOn(world, dead, name)).kill();
        dead.add(name);
        await world.clock.advance(SECOND);
      }
      const { once } = process(world, 'shop', dead, 'fourth');
      await world.refusesNone(once, 90 * SECOND);
      await world.clock.advance(10 * SECOND);
      expect(world.server.charged.size).toBe(1);
      await world.takesNone(once);
    });

    test('had sent it before another one goes on, and that one is moved: the attempt of the first one counts', async ({ world, dead }) => {
      await firstDies(world, dead);
      await goesOn(world, dead);
      const { once } = process(world, 'ann', dead, 'third');
      await world.run(move(once, 'shop'));
      await world.refusesNone(once, 91 * SECOND);
      await world.clock.advance(10 * SECOND);
      expect(world.server.charged.size).toBe(1);
      await world.takesNone(once);
    });

    test('does not keep "none" away for hours where the clock was set back since', async ({ world, dead }) => {
      await firstDies(world, dead);
      world.damage((record) => ({ ...record, lease: { ...record.lease, until: world.clock.now() + 5 * 3600 * SECOND } }));
      const { once } = process(world, 'shop', dead, 'second');
      await world.refusesNone(once);
      await world.takesNone(once, 120 * SECOND);
    });
  });

describe('an attempt of a page that died counts, also once the next page has pressed', () => {
  /** A page sends an attempt that takes long, and dies. Another one is open. */
  async function nextAfterDeath(world: World) {
    const first = world.open({ namespace: 'ann' });
    await world.dies(first, { limits: { attempts: 1, attemptMs: 100 * SECOND } }, delayed(95 * SECOND, answers(201)));
    return world.open({ namespace: 'ann', ...ONE });
  }

  async function countsUntilItArrives(world: World, once: Once): Promise<void> {
    await world.refusesNone(once, 94 * SECOND);
    await world.clock.advance(SECOND);
    expect(world.server.charged.size).toBe(1);
  }

  test('and could not store how its press ended, and has pressed again', async ({ world }) => {
    const { tab, once } = await nextAfterDeath(world);
    const fails = during(() => tab.faults.rate('fail-before-commit', 1), lost());
    expect(await world.end(tab, pay(once), fails)).toMatchObject({ outcome: { effect: 'unknown' } });
    tab.faults.clear();
    expect(await world.end(tab, pay(once), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    await countsUntilItArrives(world, once);
  });

  test('and the storage was emptied after that', async ({ world }) => {
    const { tab, once } = await nextAfterDeath(world);
    expect(await world.end(tab, pay(once), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    world.empty();
    await countsUntilItArrives(world, once);
  });
});

/** Nobody shares the page's store, so its records have no leases. */
const ALONE: TabOptions = { claims: { shared: 'context', survives: 'context' } };

test('an attempt of a guest that takes long counts after two log-ins, with a press of the first user under way', async ({ world }) => {
  const guest = world.open({ namespace: 'guest' });
  await world.begin(pay(guest.once, { limits: { attempts: 1, attemptMs: 100 * SECOND } }), delayed(95 * SECOND, answers(201)), delayed(25 * SECOND, lost()));
  const ann = world.open({ namespace: 'ann' });
  await world.run(move(ann.once, 'guest'));
  await world.begin(pay(ann.once, ONE));
  expect(world.server.arrivals).toHaveLength(2);
  const { once } = world.open({ namespace: 'bob' });
  await world.run(move(once, 'ann'));
  await world.refusesNone(once, 90 * SECOND);
  await world.clock.advance(11 * SECOND);
  expect(world.server.charged.size).toBe(1);
  await world.takesNone(once);
});

test('in a page whose store is its own the attempt of the user before counts, also if that of the guest cannot arrive any more', async ({ world }) => {
  const user = { id: 'guest' };
  const { once } = world.open({ namespace: () => user.id, ...ONE }, ALONE);
  await world.begin(pay(once), hangs(), delayed(28 * SECOND, answers(201)));
  user.id = 'ann';
  await world.run(move(once, 'guest'));
  await world.clock.advance(20 * SECOND);
  await world.begin(pay(once));
  user.id = 'bob';
  await world.run(move(once, 'ann'));
  await world.refusesNone(once, 20 * SECOND);
  await world.clock.advance(11 * SECOND);
  expect(world.server.charged.size).toBe(1);
  await world.takesNone(once);
});

test('an operation that is moved twice is not kept from "none" for longer than after the first move', async ({ world }) => {
  const guest = world.open({ namespace: 'guest' });
  await world.begin(pay(guest.once, ONE), hangs());
  await world.run(move(world.open({ namespace: 'ann' }).once, 'guest'));
  await world.clock.advance(20 * SECOND);
  const { once } = world.open({ namespace: 'bob' });
  await world.run(move(once, 'ann'));
  await world.refusesNone(once);
  await world.takesNone(once, 26 * SECOND);
});
