/**
 * Goal: a store is closed by the client that it was given to, when nobody uses it any more, and by no other client. Method:
 * clients that are extended from one another, closed in every order, with requests on the wire.
 */
import { describe, expect, test, vi } from 'vitest';
import { close, derived, extend, run } from '../../src/entries/index.js';
import type { Store } from '../../src/ports.js';
import { memoryStore } from '../../src/stores/memory.js';
import { answers, charged, delayed } from '../support/server.js';
import { NAME, newWorld, pay, rest, SECOND, watched } from '../support/world.js';

function scene() {
  const world = newWorld();
  const tab = world.tab();
  const closed: string[] = [];
  const noting = (name: string, store: Store): Store => ({
    ...store,
    close: async () => {
      closed.push(name);
      await store.close();
    },
  });
  const parent = tab.once({ namespace: 'shop', store: noting('parent', tab.store) });
  return { world, tab, closed, noting, parent };
}

describe('a client that was extended', () => {
  test('can be closed without closing the store of the client that it was extended from', async () => {
    const { world, tab, closed, parent } = scene();
    const [child, grandchild] = [extend(parent, { limits: { attempts: 1 } }), extend(extend(parent, {}), {})];
    await Promise.all([close(child), close(grandchild)]);
    expect(closed).toEqual([]);
    const effect = vi.fn();
    for (const gone of [child, grandchild]) {
      await expect(pay(gone)).rejects.toThrow(/closed/);
      await expect(run(gone, NAME, effect)).rejects.toThrow(new TypeError('once: this client is closed'));
    }
    expect(effect).not.toHaveBeenCalled();
    expect((await world.end(tab, pay(parent), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
    await close(parent);
    expect(closed).toEqual(['parent']);
  });

  test('closes the store that it was given itself, and not the other one', async () => {
    const { closed, noting, parent } = scene();
    const child = extend(parent, { store: noting('child', memoryStore()) });
    await close(child);
    expect(closed).toEqual(['child']);
    await close(parent);
    expect(closed.sort()).toEqual(['child', 'child', 'parent'].sort());
  });

  test('is closed with the client that it was extended from: its attempt ends and is stored, and then the store is closed', async () => {
    const { world, tab, closed, parent } = scene();
    const child = extend(parent, {});
    const grandchild = tab.in(() => extend(child, {}));
    const [paid] = await world.begin(pay(grandchild), delayed(5 * SECOND, charged(answers(201))));
    let over = false;
    const closing = close(parent).then(() => void (over = true));
    await world.clock.advance(SECOND);
    expect([over, closed]).toEqual([false, []]);
    expect((await world.end(tab, paid)).outcome).toMatchObject({ type: 'fresh' });
    await closing;
    expect(closed).toEqual(['parent']);
    expect(world.record()).toMatchObject({ state: 'settled' });
    await expect(watched(pay(grandchild, { operation: [...NAME, 'later'] }))).rejects.toThrow(/closed/);
    await expect(watched(pay(extend(parent, {})))).rejects.toThrow(/closed/);
  });

  test('that is closed makes no further attempt, and does not wait for one', async () => {
    const { world, tab, closed, parent } = scene();
    const [paid] = await world.begin(pay(extend(parent, {})), charged(answers(503, '', { 'retry-after': '60' })));
    const at = world.clock.now();
    const closing = close(parent);
    expect((await world.end(tab, paid)).outcome).toMatchObject({ effect: 'unknown' });
    await closing;
    expect([world.clock.now() - at, closed]).toEqual([0, ['parent']]);
  });

  test('does not stay in memory once the app has dropped it, however many there are', async () => {
    const { parent } = scene();
    const first = new WeakRef(extend(parent, {}));
    const collect = globalThis.gc ?? (await forcedCollection());
    for (let n = 0; n < 300; n++) extend(parent, {});
    await rest();
    collect();
    await rest();
    collect();
    expect(first.deref()).toBeUndefined();
  });
});

/** The garbage collector, without a flag for the whole run. */
async function forcedCollection(): Promise<() => void> {
  const [{ setFlagsFromString }, { runInNewContext }] = await Promise.all([import('node:v8'), import('node:vm')]);
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

// The stored record may be lost; then a call would make the same key again if it is not random.
test.each([
  ['a random key', 'none', undefined, {}],
  ['a derived key', 'unknown', derived, {}],
  ['a key of the caller’s own', 'unknown', 'order-1', {}],
  ['a key on a store that is not atomic', 'unknown', undefined, { locks: false, claims: { atomic: false } }],
] as const)('a call of a closed client that never began and finds no record: with %s, the effect is %s', async (_, effect, key, of) => {
  const { world, tab, once } = newWorld().open({ namespace: 'shop' }, of);
  const call = pay(once, { key });
  await close(once);
  expect((await world.end(tab, call)).outcome).toMatchObject({ effect, reason: 'aborted' });
  expect(world.server.arrivals).toEqual([]);
});

test('a call that waits for the call of another client ends at once when its own client is closed', async () => {
  const world = newWorld();
  const tab = world.tab();
  const [one, two] = [tab.once(), tab.once()];
  const [driving] = await world.begin(pay(one), delayed(20 * SECOND, charged(answers(201))));
  const [waiting] = await world.begin(pay(two, { body: { cart: 'c1', amount: 20 } }));
  const begun = world.clock.now();
  await world.run(close(two));
  await expect(world.run(waiting)).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'aborted' } });
  expect(world.clock.now()).toBe(begun);
  expect((await world.end(tab, driving)).outcome).toMatchObject({ effect: 'done' });
});
