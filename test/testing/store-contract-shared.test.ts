/**
 * Goal: a store that loses or misses what another store has stored in the same medium does not pass the contract. Method: a correct store,
 * opened several times, and flaws that show only between two openings.
 */
import { expect, test } from 'vitest';
import type { Changed, Store, Stored } from '../../src/ports.js';
import { type MemoryMedium, memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { storeContract } from '../../src/testing/store-contract.js';

/** The titles of the cases that fail for correct stores whose parts `flaw` replaces. */
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

test('passes a store without a flaw', async () => expect(await failures(() => ({}))).toEqual([]));

test('fails a store that caches its reads, and so misses what another store writes later', async () => {
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
  expect(await failures(cached)).toEqual([...SHARED, LOOKS]);
});

test('fails a store that keeps a relaxed update to itself for a while', async () => {
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

test('fails a store that writes all records as one file, but locks only one record', async () => {
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
      // Each opening writes the file as it has read it before, so it drops records that another opening has added meanwhile.
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

const LOOKS = 'x: a store that looked sees what another one inserts, settles and removes, however it looks, and so does one opened later';
const WHILE = 'x: whoever looks while records are written finds each whole, as it was or as it will be';
const tick = () => new Promise((resolve) => setImmediate(resolve));

test('fails a store whose removal does not check that the record is still what the change saw', async () => {
  const unconditional = (store: Store): Partial<Store> => ({
    async update<T>(...[id, change]: [string, (current: unknown, now: number) => Changed<T>]) {
      for (;;) {
        const current = await store.read(id);
        const { next, value } = change(current, Date.now());
        if (next === undefined) return value;
        await tick();
        const done = await store.update(id, (now) => {
          const is = next === null || JSON.stringify(now) === JSON.stringify(current);
          return is ? { next, value: true } : { value: false };
        });
        if (done) return value;
      }
    },
  });
  expect(await failures(unconditional)).toEqual(['x: updates of one record through two stores at once come one after the other']);
});

test.each(['leaves', 'throws'] as const)('fails a store that takes its guess for the record if the change %s', async (how) => {
  const guessing = (store: Store): Partial<Store> => {
    const seen = new Map<string, unknown>();
    return {
      async update<T>(...[id, change, options]: [string, (current: unknown, now: number) => Changed<T>, { durability?: undefined }?]) {
        if (seen.has(id)) {
          try {
            const guess = change(seen.get(id), Date.now());
            if (how === 'leaves' && guess.next === undefined) return guess.value;
          } catch (error) {
            if (how === 'throws') throw error;
          }
        }
        return store.update(id, change, options).finally(async () => seen.set(id, await store.read(id)));
      },
    };
  };
  expect(await failures(guessing)).toContain(LOOKS);
});

test('fails a store whose scan finds only what was written through this store', async () => {
  const own = (store: Store): Partial<Store> => {
    const ids = new Set<string>();
    return {
      update(id, ...more) {
        ids.add(id);
        return store.update(id, ...more);
      },
      scan: async (query) => {
        const page = await store.scan(query);
        return { ...page, records: page.records.filter((one) => ids.has((one as Stored).id)) };
      },
    };
  };
  expect(await failures(own)).toContain(LOOKS);
});

test('fails a store that only remembers its own removals, and does not store them', async () => {
  const forgetful = (store: Store): Partial<Store> => {
    const gone = new Set<string>();
    return {
      update: (id, change, options) =>
        store.update(
          id,
          (current, now) => {
            const changed = change(gone.has(id) ? undefined : current, now);
            if (changed.next !== undefined) gone[changed.next ? 'delete' : 'add'](id);
            return changed.next === null ? { value: changed.value } : changed;
          },
          options,
        ),
      read: async (id) => (gone.has(id) ? undefined : store.read(id)),
      scan: async (query) => {
        const page = await store.scan(query);
        return { ...page, records: page.records.filter((one) => !gone.has((one as Stored).id)) };
      },
    };
  };
  expect(await failures(forgetful)).toContain(LOOKS);
});

test('fails a store that removes a record before it writes the next one', async () => {
  const turns = new Map<string, Promise<unknown>>();
  const emptying = (store: Store, medium: string): Partial<Store> => ({
    update<T>(...[id, change]: [string, (current: unknown, now: number) => Changed<T>]) {
      const mine = (turns.get(medium) ?? Promise.resolve()).then(async () => {
        const { next, value } = change(await store.read(id), Date.now());
        if (next === undefined) return value;
        await store.update(id, () => ({ next: null, value: undefined }));
        await tick();
        await store.update(id, () => ({ next, value: undefined }));
        return value;
      });
      turns.set(
        medium,
        mine.catch(() => {}),
      );
      return mine;
    },
  });
  expect(await failures(emptying)).toContain(WHILE);
});

test.each(['fails if one is gone', 'returns what is there by then'])('fails a store whose scan reads an index, then each record, and %s', async (how) => {
  const lists = (store: Store): Partial<Store> => ({
    scan: async (query) => {
      const { records, next } = await store.scan(query);
      const found: unknown[] = [];
      for (const { id } of records as Stored[]) {
        await tick();
        const one = await store.read(id);
        if (one) found.push(one);
        else if (how.startsWith('fails')) throw new Error('no such file');
      }
      return { records: found, next };
    },
    update: async (...all) => tick().then(() => store.update(...all)),
  });
  expect(await failures(lists)).toContain(WHILE);
});

test('fails a store that reports an update as stored although it was closed before the write', async () => {
  const losing = (store: Store): Partial<Store> => {
    let closed = false;
    return {
      async update(id, change, options) {
        const was = closed;
        await tick();
        if (closed && !was) return change(await store.read(id).catch(() => undefined), Date.now()).value;
        return store.update(id, change, options);
      },
      async close() {
        closed = true;
        await store.close();
      },
    };
  };
  expect(await failures(losing)).toEqual(['x: an update that is under way when its store is closed is stored, or rejects']);
});

test('fails a store that, when closed, closes the other stores of its medium', async () => {
  const open = new Map<string, Set<Store>>();
  const together = (store: Store, medium: string): Partial<Store> => {
    const all = open.get(medium) ?? new Set();
    open.set(medium, all.add(store));
    return {
      close: async () => {
        for (const one of all) await one.close();
        all.clear();
      },
    };
  };
  expect(await failures(together)).toContain(SHARED[0]);
});

const HOLDERS: Record<string, Required<Pick<Store, 'holder' | 'isGone'>>> = {
  'has another name each time': { holder: async () => crypto.randomUUID(), isGone: async () => false },
  'is gone while it lives': { holder: async () => 'me', isGone: async () => true },
};

test.each(Object.keys(HOLDERS))('fails a store whose holder %s', async (name) => {
  expect(await failures(() => HOLDERS[name] ?? {})).toEqual(['x: the holder of an open store has one name, and is not gone']);
});

test('passes a store whose holder is a lock of the server, so that every name that nobody holds is gone', async () => {
  expect(await failures(() => ({ holder: async () => 'me', isGone: async (name) => name !== 'me' }))).toEqual([]);
});

test('fails a store that works, but says that it is not available', async () => {
  expect(await failures(() => ({ available: async () => false }))).toEqual(['x: an absent record reads as undefined']);
});
