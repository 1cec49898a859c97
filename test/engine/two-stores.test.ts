/**
 * Goal: what belongs to one store never shows in another one, even if namespace and name are equal: a service with a store per tenant makes such pairs all the
 * time. Method: two clients in one process, each with a store of its own; the stores are full or sound.
 */
import { describe, expect, test } from 'vitest';
import { clear, pending } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { Store } from '../../src/ports.js';
import { memoryStore } from '../../src/stores/memory.js';
import { faultyStore } from '../../src/testing/faulty-store.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { CART, MINUTE, NAME, newWorld, ONE, pay, SECOND, type World, watched } from '../support/world.js';

const tenants = ['one', 'two'] as const;

interface Tenant {
  readonly once: Once;
  readonly store: Store;
}

/** `full`: the stores refuse each new record. */
function open({ full = true, of, own = {} }: { full?: boolean; of?: TabOptions; own?: Partial<Store> } = {}): {
  readonly world: World;
  readonly tab: Tab;
  readonly one: Tenant;
  readonly two: Tenant;
} {
  const world = newWorld();
  const tab = world.tab(of);
  const made = tenants.map((name): Tenant => {
    const store = faultyStore({ ...memoryStore({ now: () => world.clock.now() }), survives: 'process', shared: 'origin', scope: `disk-${name}`, ...own });
    if (full) store.faults.rate('full', 1);
    // When the test ends, the world looks for records only in its own medium and in `degraded`, so the test notes them there.
    const noted: Store = {
      ...store,
      update: (id, change, options) => {
        const noting: typeof change = (current, now) => {
          const changed = change(current, now);
          if (changed.next) tab.degraded.set(`${name} ${id}`, changed.next);
          return changed;
        };
        return store.update(id, noting, options);
      },
    };
    return { store: noted, once: tab.once({ namespace: 'billing', store: noted }) };
  });
  return { world, tab, one: made[0] as Tenant, two: made[1] as Tenant };
}

describe('two stores of one process, both full, with equal namespace and name', () => {
  test('each have a key and an effect of their own', async () => {
    const { world, tab, one, two } = open();
    const first = await world.end(tab, pay(one.once), charged(answers(201)));
    const second = await world.end(tab, pay(two.once), charged(answers(201)));
    expect([first.outcome, second.outcome]).toMatchObject([
      { type: 'fresh', storedIn: 'memory' },
      { type: 'fresh', storedIn: 'memory' },
    ]);
    expect(second.outcome?.key).not.toBe(first.outcome?.key);
    expect(world.server.charged.size).toBe(2);
  });

  test('do not go on with the key of a lost answer in the other store', async () => {
    const { world, tab, one, two } = open();
    const first = await world.end(tab, pay(one.once, ONE), charged(lost()));
    expect(first.outcome).toMatchObject({ effect: 'unknown', storedIn: 'memory' });
    const second = await world.end(tab, pay(two.once), charged(answers(201)));
    expect(second.outcome).toMatchObject({ type: 'fresh', resumed: false });
    expect(second.outcome?.key).not.toBe(first.outcome?.key);
    expect(await world.run(pending(one.once))).toMatchObject([{ name: NAME, key: first.outcome?.key }]);
    expect(await world.run(pending(two.once))).toEqual([]);
  });

  test('another client of the same store finds the record that the store could not take', async () => {
    const { world, tab, one } = open();
    const { outcome } = await world.end(tab, pay(one.once, ONE), charged(lost()));
    const same = tab.once({ namespace: 'billing', store: one.store });
    expect(await world.run(pending(same))).toMatchObject([{ key: outcome?.key }]);
  });

  test('a log-out in one removes what it kept in memory, settled or unnamed, and nothing of the other one', async () => {
    const { world, tab, one, two } = open();
    world.server.plays(...Array(4).fill(charged(answers(201))));
    for (const { once } of [one, two]) {
      expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'fresh' });
      const unnamed = once.fetch('https://shop.example/api/payments', { method: 'POST', body: JSON.stringify(CART) });
      expect((await world.end(tab, watched(unnamed))).outcome).toMatchObject({ type: 'fresh', storedIn: 'memory' });
    }
    await world.clock.advance(3 * MINUTE);
    await world.run(clear(one.once));
    // The answer in the other store is still there, and nothing is sent for it.
    expect((await world.end(tab, pay(two.once))).outcome).toMatchObject({ type: 'replayed', from: 'memory' });
    expect((await world.end(tab, pay(one.once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  });
});

describe('two sound stores of one page', () => {
  test('a log-out in one leaves the request that the other one can send again', async () => {
    const { world, tab, one, two } = open({ full: false });
    expect((await world.end(tab, pay(two.once, ONE), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    expect(await world.run(pending(two.once))).toMatchObject([{ resumable: true }]);
    await world.run(clear(one.once));
    expect(await world.run(pending(two.once))).toMatchObject([{ resumable: true }]);
  });

  test('do not wait for one another', async () => {
    const { world, tab, one, two } = open({ full: false });
    world.server.plays(delayed(5 * SECOND, charged(answers(201))), charged(answers(201)));
    const slow = pay(one.once);
    const begun = world.clock.now();
    expect((await world.end(tab, pay(two.once, { whenBusy: 'reject' }))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.clock.now() - begun).toBeLessThan(SECOND);
    expect((await world.end(tab, slow)).outcome).toMatchObject({ type: 'fresh' });
  });
});
