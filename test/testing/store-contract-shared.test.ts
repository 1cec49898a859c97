/**
 * Goal: no store passes the contract that loses what another one stored in the same place, or does not see it. Method: a store that is
 * right, opened several times, and flaws that show only between two openings.
 */
import { expect, test } from 'vitest';
import type { Changed, Store, Stored } from '../../src/ports.js';
import { type MemoryMedium, memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { storeContract } from '../../src/testing/store-contract.js';

/** The titles of the cases that fail, for stores that `flaw` makes of right ones. */
async function failures(flaw: (store: Store, medium: string) => Partial<Store>): Promise<string[]> {
  const media = new Map<string, MemoryMedium>();
  const cases: [string, () => Promise<void>][] = [];
  const open = (name: string): Store => {
    const medium = media.get(name) ?? memoryMedium(name);
    media.set(name, medium);
    const store = memoryStore({ medium });
    return { ...store, ...flaw(store, name) };
  };
  storeContract({ name: 'x', test: (title, run) => cases.push([title, run]), open });
  const failed: string[] = [];
  for (const [title, run] of cases) await run().catch(() => failed.push(title));
  return failed;
}

const SHARED = ['x: what an update stored is there for a store opened after it resolved'];

test('without a flaw it passes', async () => {
  expect(await failures(() => ({}))).toEqual([]);
});

test('what another one stored is not seen after an earlier look', async () => {
  const cached = (store: Store): Partial<Store> => {
    const seen = new Map<string, unknown>();
    return {
      update: (id, ...more) => store.update(id, ...more).finally(() => seen.delete(id)),
      async read(id) {
        if (!seen.has(id)) seen.set(id, await store.read(id));
        return structuredClone(seen.get(id));
      },
    };
  };
  expect(await failures(cached)).toEqual(SHARED);
});

test('a relaxed update waits in the store that made it', async () => {
  const holding = (store: Store): Partial<Store> => {
    const held = new Map<string, Stored | null>();
    const flush = async (): Promise<void> => {
      for (const [id, next] of held) await store.update(id, () => ({ next, value: undefined }));
      held.clear();
    };
    return {
      async update<T>(...[id, change, options]: [string, (current: unknown, now: number) => Changed<T>, { durability?: unknown }?]) {
        await flush();
        if (options?.durability !== 'relaxed') return store.update(id, change);
        const { next, value } = change(await store.read(id), Date.now());
        if (next !== undefined) held.set(id, next);
        return value;
      },
      read: (id) => (held.has(id) ? Promise.resolve(held.get(id) ?? undefined) : store.read(id)),
      scan: (query) => flush().then(() => store.scan(query)),
      close: () => flush().then(() => store.close()),
    };
  };
  expect(await failures(holding)).toContain(SHARED[0]);
});

test('all records are one file, and what is locked is one record', async () => {
  const turns = new Map<string, Promise<unknown>>();
  const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const mine = (turns.get(name) ?? Promise.resolve()).then(work, work);
    turns.set(name, mine);
    return mine;
  };
  let openings = 0;
  const all = { before: Number.POSITIVE_INFINITY, limit: 1000 };
  const oneFile = (store: Store, medium: string): Partial<Store> => {
    const own = `opening ${++openings}`;
    return {
      // Of two openings each writes what it has read of the other one's records.
      update: (id, ...more) =>
        inTurn(own, () =>
          inTurn(`${medium} ${id}`, async () => {
            const file = (await store.scan(all)).records as Stored[];
            await new Promise((resolve) => setImmediate(resolve));
            const value = await store.update(id, ...more);
            const names = new Set([...file.map((one) => one.id), id]);
            for (const one of (await store.scan(all)).records as Stored[])
              if (!names.has(one.id)) await store.update(one.id, () => ({ next: null, value: undefined }));
            return value;
          }),
        ),
    };
  };
  expect(await failures(oneFile)).toEqual(SHARED);
});
