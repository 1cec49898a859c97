/** Goal: rare behaviour of stores, records and clocks leads to no second effect, and to no untrue outcome. */
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { afterSweep } from '../../src/core/retention.js';
import { clear, forget, move, pending, resumeInBackground } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { Store, Stored } from '../../src/ports.js';
import { localStorageStore } from '../../src/stores/browser/local-storage.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, lost, replays, unreachable } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { HOUR, MINUTE, NAME, newWorld, ONE, pay, resumed, SECOND, test, type World, watched } from '../support/world.js';

/** The localStorage of a page: its entries are also its properties. */
function pagesLocalStorage(): void {
  const texts: Record<string, string> = Object.create({
    getItem: (key: string) => texts[key] ?? null,
    setItem(key: string, text: string) {
      texts[key] = text;
    },
    removeItem(key: string) {
      delete texts[key];
    },
  });
  vi.stubGlobal('localStorage', texts);
  // No `navigator.locks`, because real locks take real time.
  vi.stubGlobal('navigator', {});
  onTestFinished(() => void vi.unstubAllGlobals());
}

test('in localStorage, where records are JSON, a settled operation can be remembered for ever', async () => {
  pagesLocalStorage();
  const world = newWorld();
  const tab = world.tab();
  const store = localStorageStore();
  const noted: Store = {
    ...store,
    update: (id, change, options) => {
      const noting: typeof change = (current, now) => {
        const changed = change(current, now);
        if (changed.next) tab.degraded.set(id, changed.next);
        return changed;
      };
      return store.update(id, noting, options);
    },
  };
  const open = (page: Tab): Once => page.once({ namespace: 'ann', store: noted, keep: { forMs: Number.POSITIVE_INFINITY } });
  const { outcome } = await world.end(tab, pay(open(tab)), charged(answers(201)));
  await world.clock.advance(MINUTE);
  expect((await world.end(tab, pay(open(tab)))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  const next = tab.reload();
  expect((await world.end(next, pay(open(next)))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});

test.for([false, true])(
  'a store throws something that is not an Error, and the effect is unknown; it throws before it was told what to write: %s',
  async (before, { world, tab }) => {
    const broken = (): never => {
      throw 'broken';
    };
    const store: Store = { ...tab.store, read: broken, update: before ? broken : (...call) => tab.store.update(...call).then(broken) };
    const once = tab.once({ namespace: 'ann', store });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  },
);

test.for(['insert', 'end'])(
  'a store rejects with an object that has no text, at the %s of an operation: the outcome is still true',
  async (when, { world, tab }) => {
    let updates = 0;
    const store: Store = {
      ...tab.store,
      update: (id, change, options) => {
        const fails = ++updates === (when === 'insert' ? 1 : 2);
        const refused: typeof change = (current, now) => ({ value: change(current, now).value });
        return fails ? tab.store.update(id, refused, options).then(() => Promise.reject(Object.create(null))) : tab.store.update(id, change, options);
      },
    };
    expect((await world.end(tab, pay(tab.once({ namespace: 'ann', store })), charged(answers(201)))).outcome).toMatchObject({ effect: 'done' });
  },
);

/** A store that stores what it is given, and rejects all the same; `rejects` says at which updates. */
function storing(tab: Tab, rejects: (update: number) => boolean, before: (update: number, id: string) => Promise<void> = async () => {}): Store {
  let updates = 0;
  return {
    ...tab.store,
    update: async (...call) => {
      const update = ++updates;
      await before(update, call[0]);
      const value = await tab.store.update(...call);
      if (rejects(update)) throw new Error('stored, but on no replica');
      return value;
    },
  };
}

test.for([1, 2])(
  'a store stores a new record and rejects, %i times: nothing is sent before it says that the record is stored',
  async (times, { world, tab }) => {
    const once = tab.once({ namespace: 'ann', store: storing(tab, (update) => update <= times) });
    const first = await world.end(tab, pay(once), charged(answers(201)));
    if (times > 1) {
      expect(first).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
      expect(world.server.arrivals).toHaveLength(0);
      await world.end(tab, pay(once));
    }
    expect(world.server.keys).toEqual([world.record()?.key]);
    // The second write is as strict as the first, because the first may not have reached the replicas.
    expect(world.writes.slice(0, 2).map(({ durability }) => durability)).toEqual(['strict', 'strict']);
  },
);

test('a store rejects while another process stores the same operation: the call does not take that record for its own', async ({ world }) => {
  const [tab, other] = [world.tab({ server: true, locks: false }), world.tab({ server: true, locks: false })];
  const options = { namespace: 'ann' };
  const call = { key: 'order-0001' };
  let theirs: Promise<Response> | undefined;
  const store: Store = {
    ...tab.store,
    update: async (id, change, how) => {
      if (theirs) return tab.store.update(id, change, how);
      change(undefined, world.clock.now());
      [theirs] = await world.begin(pay(other.once(options), call), delayed(SECOND, answers(201)));
      throw new Error('nothing was stored');
    },
  };
  expect(await world.end(tab, pay(tab.once({ ...options, store }), call))).toMatchObject({ code: 'ERR_ONCE_STORE' });
  expect((await world.end(other, theirs as Promise<Response>)).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals).toHaveLength(1);
});

test.for<[string, () => Promise<unknown>, number]>([
  ['is gone by the second update', async () => undefined, 0],
  ['is not confirmed in time', () => new Promise(() => {}), 3 * SECOND],
])('a store stores a new record and rejects: nothing is sent if the record %s', async ([_, then, ms], { world, tab }) => {
  const gone = async (update: number, id: string): Promise<void> => {
    if (update !== 2) return;
    await then();
    world.medium.set(id, undefined);
  };
  const store = storing(tab, (update) => update === 1, gone);
  const begun = world.clock.now();
  const end = await world.end(tab, pay(tab.once({ namespace: 'ann', store, limits: { totalMs: 2 * SECOND } })));
  expect(end).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  expect(world.clock.now() - begun).toBeLessThanOrEqual(ms);
  expect(world.server.arrivals).toHaveLength(0);
});

describe('an offline press took over a key in use; since then, the earlier record inside its record was damaged', () => {
  /** Gives the key that may have charged, and the page after the reload. */
  async function flipped(world: World, namespace: string): Promise<{ key: string | undefined; tab: Tab }> {
    const tab = world.tab({ resends: true });
    const { outcome } = await world.end(tab, pay(tab.once({ namespace })), answers(400, { code: 'bad_card' }));
    const next = await pressOffline(tab, (page) => pay(page.once({ namespace })));
    world.damage((record) => ({ ...record, previous: { ...record.previous, key: '00000000-0000-4000-8000-00000000beef' } }));
    return { key: outcome?.key, tab: next };
  }

  test.for([
    ['forget', 'ann', (ann: Once) => forget(ann, NAME)],
    ['clear', 'ann', (ann: Once) => clear(ann)],
    ['move', 'guest', (ann: Once) => move(ann, 'guest')],
  ] as const)('%s: no other key is sent', async ([_, namespace, change], { world }) => {
    const { key, tab } = await flipped(world, namespace);
    const ann = tab.once({ namespace: 'ann' });
    await world.run(Promise.allSettled([change(ann)]));
    await world.end(tab, pay(ann, ONE), unreachable());
    expect(await world.end(tab, pay(ann, ONE))).toMatchObject({ code: 'ERR_ONCE_RECORD' });
    expect(new Set(world.server.keys)).toEqual(new Set([key]));
  });
});

test('a call that waits for a lease ends within its limits, even if the clock is set back by hours', async ({ world }) => {
  const [first, second] = [world.tab({ locks: false }), world.tab({ locks: false })];
  await world.begin(watched(pay(first.once({ namespace: 'ann' }), { limits: { totalMs: 2 * MINUTE } })), charged(lost()));
  first.kill();
  const call = pay(second.once({ namespace: 'ann' }));
  await world.clock.advance(2 * SECOND);
  second.skewMs = -2 * HOUR;
  const since = world.clock.now();
  expect((await world.end(second, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'busy' });
  expect(world.clock.now() - since).toBeLessThan(2 * MINUTE);
  second.skewMs = 0;
  await world.clock.advance(MINUTE);
  expect((await world.end(second, pay(second.once({ namespace: 'ann' })), replays())).outcome).toMatchObject({ effect: 'done' });
});

test('a store turns absent members into null: the operation is listed, goes on with its key, and is cleared', async ({ world }) => {
  const tab = world.tab({ locks: false });
  const nulls = (record: object | null | undefined) => record && Object.fromEntries(Object.entries(record).map(([name, value]) => [name, value ?? null]));
  const opened = (page: Tab): Once => {
    const update: Store['update'] = (id, change, options) =>
      page.store.update(
        id,
        (current, now) => {
          const changed = change(current, now);
          return changed.next ? { ...changed, next: nulls(changed.next) as unknown as Stored } : changed;
        },
        options,
      );
    return page.once({ namespace: 'ann', store: { ...page.store, shared: 'context', update } });
  };
  const { outcome } = await world.end(tab, pay(opened(tab), ONE), charged(lost()));
  expect(world.record()).toHaveProperty('lease', null);
  // A sweep looks twice at a record before it removes it.
  expect(afterSweep({ ...world.record(), dueAt: null } as unknown as OnceRecord, world.clock.now())).toMatchObject({ state: 'pending' });
  const next = tab.reload();
  expect(await world.run(pending(opened(next)))).toMatchObject([{ key: outcome?.key }]);
  expect((await world.end(next, pay(opened(next)), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  await world.run(clear(opened(next)));
});

test.for<[string, (once: Once) => Promise<unknown>]>([
  ['a list', (once) => pending(once)],
  ['resume', (once) => resumed(once)],
  ['resumeInBackground', (once) => resumeInBackground(once)],
  ['a log-out', (once) => clear(once)],
  ['a log-in', (once) => move(once, 'guest')],
])('a store whose scan returns the same page for ever: %s ends, with an error that names the store', async ([what, act], { world, tab }) => {
  await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE), charged(lost()));
  world.server.otherwise = replays();
  let scans = 0;
  const scan: Store['scan'] = async (query) => {
    if (++scans > 100) throw new Error('it goes on for ever');
    const page = await tab.store.scan(query);
    return 'before' in query ? page : { ...page, next: JSON.stringify(['["pay"', '']) };
  };
  const once = tab.once({ namespace: what === 'a log-in' ? 'ann' : 'guest', store: { ...tab.store, scan } });
  await expect(world.run(watched(act(once)))).rejects.toThrow('once: the store disk repeats a page for ever');
});

test('a store may have written a record although it rejected: no call is told none, not even one that could store it again without the request', async ({
  world,
  tab,
}) => {
  const inFlight: Stored[] = [];
  let away = true;
  const store: Store = {
    ...tab.store,
    update: async (id, change, options) => {
      if (!away || inFlight.length > 1) return tab.store.update(id, change, options);
      const { next } = change(undefined, world.clock.now());
      // The first write waits for a replica, so no read sees it yet. Then the store calls the change again, with a value that is not a record.
      if (!inFlight.length) change('could not be looked at', world.clock.now());
      inFlight.push(next as Stored);
      throw Object.assign(new Error('no answer'), { reason: inFlight.length > 1 ? 'blocked' : 'timeout' });
    },
  };
  const once = tab.once({ namespace: 'ann', store, durability: 'required', keep: { request: true } });
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  away = false;
  const [taken] = inFlight;
  if (taken) await tab.store.update(taken.id, () => ({ next: taken, value: undefined }));
  world.server.plays(charged(answers(201)));
  expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done' } }]);
});
