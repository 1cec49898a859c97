/** The behaviour that only the localStorage store has, within one process. `test/node/tabs.test.ts` has two tabs at once. */
import { afterEach, describe, expect, test } from 'vitest';
import { localStorageStore } from '../../../src/stores/browser/local-storage.js';
import { put, record, remove } from '../../../src/testing/contract/bench.js';
import { replaceMethod, replaceProperty, withoutLocks } from './support.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0).reverse()) restore();
  localStorage.clear();
});

describe('the store claims', () => {
  test('to be atomic only with Web Locks', () => {
    expect(localStorageStore().atomic).toBe(true);
    expect(withoutLocks(() => localStorageStore()).atomic).toBe(false);
  });

  test('not to survive the browser, which writes localStorage to disk seconds later', () => {
    expect(localStorageStore()).toMatchObject({ survives: 'context', shared: 'origin', scope: 'localstorage:oncefetch' });
  });
});

describe('a full localStorage', () => {
  /** Fills the whole quota, which is counted in characters. */
  const fill = () => {
    for (let chunk = 1_000_000; chunk >= 1; chunk = Math.floor(chunk / 2)) {
      try {
        for (let n = 0; ; n++) localStorage.setItem(`filler-${chunk}-${n}`, 'x'.repeat(chunk));
      } catch {}
    }
  };

  test('rejects writes with reason quota, keeps the old record, and still removes', async () => {
    const store = localStorageStore();
    await put(store, record('a'));
    fill();
    await expect(put(store, record('a', { body: 'x'.repeat(1000) }))).rejects.toMatchObject({ name: 'StoreFault', reason: 'quota' });
    await expect(put(store, record('b'))).rejects.toMatchObject({ reason: 'quota' });
    expect(await store.read('a')).toEqual(record('a'));
    expect(await store.read('b')).toBeUndefined();
    await remove(store, 'a');
    expect(await store.read('a')).toBeUndefined();
  });

  test('is still available, because it may hold earlier keys', async () => {
    fill();
    expect(await localStorageStore().available?.()).toBe(true);
  });
});

describe('entries of others', () => {
  test('are neither returned nor changed', async () => {
    const mine = localStorageStore({ prefix: 'mine' });
    const theirs = localStorageStore({ prefix: 'theirs' });
    localStorage.setItem('cart', '{"id":"c"}');
    await put(theirs, record('a'));
    await put(mine, record('b'));
    expect((await mine.scan({ ns: 'ns', state: 'pending', limit: 9 })).records).toEqual([record('b')]);
    expect(await mine.read('a')).toBeUndefined();
    expect(localStorage.getItem('cart')).toBe('{"id":"c"}');
  });

  test('are kept apart if one prefix begins with another prefix', async () => {
    const [all, eu] = [localStorageStore({ prefix: 'shop' }), localStorageStore({ prefix: 'shop/eu' })];
    await put(all, record('a'));
    await put(eu, record('b'));
    await put(eu, record('a', { body: 'theirs' }));
    for (const query of [{ ns: 'ns', state: 'pending', limit: 9 } as const, { before: 9e15, limit: 9 }]) {
      expect((await all.scan(query)).records).toEqual([record('a')]);
      expect((await eu.scan(query)).records).toHaveLength(2);
    }
  });

  test('that are no JSON, under a key of the store, are returned as text', async () => {
    localStorage.setItem('oncefetch/a', '{"id":"a","ns":"n');
    const store = localStorageStore();
    expect(await store.read('a')).toBe('{"id":"a","ns":"n');
    expect(await store.update('a', (current) => ({ value: current }))).toBe('{"id":"a","ns":"n');
  });
});

describe('a turn', () => {
  /** Simulates another tab that has just finished its turn: its lock is visible at once, but its write arrives later. */
  const announced = async (turn: number): Promise<() => void> => {
    let release = () => {};
    await new Promise<void>((held) => {
      void navigator.locks.request(`localstorage:oncefetch#${turn}`, () => {
        held();
        return new Promise<void>((done) => void (release = done));
      });
    });
    undo.push(release);
    return release;
  };

  test('waits for the write of an earlier turn in another tab', async () => {
    const store = localStorageStore();
    await announced(41);
    // The write arrives exactly when the store begins to wait for it: on a busy machine, a timer might fire after the
    // quarter of a second that the store waits.
    const { setTimeout: real } = globalThis;
    const arriving = (fire: () => void, ms: number) => {
      localStorage.setItem('oncefetch/a', JSON.stringify(record('a')));
      localStorage.setItem('localstorage:oncefetch', 'localstorage:oncefetch#41');
      return real(fire, ms);
    };
    undo.push(replaceProperty(globalThis, 'setTimeout', { value: arriving }));
    const seen = store.update('a', (current) => ({ value: current }));
    expect(await seen).toEqual(record('a'));
  });

  test('waits no longer than a quarter of a second, as when the page has cleared localStorage', async () => {
    const store = localStorageStore();
    await announced(41);
    const began = performance.now();
    await put(store, record('a'));
    expect(performance.now() - began).toBeGreaterThanOrEqual(245);
    let waits = 0;
    const { setTimeout: real } = globalThis;
    const counted = (fire: () => void, ms: number) => real(fire, ms, ms < 10 && waits++);
    undo.push(replaceProperty(globalThis, 'setTimeout', { value: counted }));
    await put(store, record('a', { count: 2 }));
    expect(waits).toBe(0);
    expect(await store.read('a')).toEqual(record('a', { count: 2 }));
  });

  test('is announced by one lock per tab, not by one lock per write', async () => {
    const store = localStorageStore({ prefix: 'many' });
    for (let n = 0; n < 20; n++) await put(store, record('a', { n }));
    const { held = [] } = await navigator.locks.query();
    expect(held.filter(({ name }) => name?.startsWith('localstorage:many#'))).toHaveLength(1);
  });

  test('counts on from the last turn, however long ago it was', async () => {
    const store = localStorageStore({ prefix: 'old' });
    localStorage.setItem('localstorage:old', 'localstorage:old#50');
    await put(store, record('a'));
    expect(localStorage.getItem('localstorage:old')).toBe('localstorage:old#51');
  });

  test('that has room for its record but not for its number still succeeds', async () => {
    const store = localStorageStore({ prefix: 'tight' });
    undo.push(
      replaceMethod(
        Storage,
        'setItem',
        (setItem) =>
          function (key, ...rest) {
            if (key === 'localstorage:tight') throw new DOMException('full', 'QuotaExceededError');
            return setItem.call(this, key, ...rest);
          },
      ),
    );
    await put(store, record('a'));
    expect(await store.read('a')).toEqual(record('a'));
  });

  test('that fails gives way to the next turn', async () => {
    const store = localStorageStore();
    const restore = replaceMethod(Storage, 'setItem', () => () => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    await expect(put(store, record('a'))).rejects.toMatchObject({ reason: 'quota' });
    restore();
    await put(store, record('a'));
    expect(await store.read('a')).toEqual(record('a'));
  });

  test('rejects with a typed error if locks are refused', async () => {
    undo.push(
      replaceMethod(LockManager, 'request', () => async () => {
        throw new DOMException('The request was denied.', 'SecurityError');
      }),
    );
    await expect(put(localStorageStore(), record('a'))).rejects.toMatchObject({ name: 'StoreFault', reason: 'denied' });
  });
});
