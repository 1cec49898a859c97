/** Goal: `move` moves many operations concurrently, within a limit. Method: a store that counts the updates under way. */
import { expect, test } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { PAGE } from '../../src/engine/scan.js';
import { createOnce, memoryStore, move, type Once, pending } from '../../src/entries/index.js';
import type { Store } from '../../src/ports.js';
import { memoryMedium } from '../../src/stores/memory.js';

const MANY = 100;

/** A store whose updates take a turn of the event loop. It counts them, and rejects update number n if `fails(n)` is true. */
function storeThatTells(): { readonly store: Store; readonly told: { underWay: number; most: number; updates: number }; fails: (n: number) => boolean } {
  const store = memoryStore();
  const told = { underWay: 0, most: 0, updates: 0 };
  const made = {
    told,
    fails: (_: number): boolean => false,
    store: {
      ...store,
      async update(...asked: Parameters<Store['update']>) {
        const n = told.updates++;
        told.most = Math.max(told.most, ++told.underWay);
        await new Promise((resolve) => setImmediate(resolve));
        try {
          if (made.fails(n)) throw new Error('the store is away');
          return await store.update(...asked);
        } finally {
          told.underWay--;
        }
      },
    } as Store,
  };
  return made;
}

async function guestOf(store: Store): Promise<Once> {
  const lost = async (): Promise<never> => {
    throw new TypeError('the answer is lost');
  };
  const client = (namespace: string): Once => createOnce({ namespace, store, fetch: lost, limits: { attempts: 1 } });
  const guest = client('guest');
  await Promise.all(
    Array.from({ length: MANY }, (_, n) => guest.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', n] }).catch(() => {})),
  );
  return client('ann');
}

const namesOf = async (once: Once): Promise<unknown[]> =>
  (await pending(once, { limit: MANY })).map(({ name }) => name[1]).sort((a, b) => Number(a) - Number(b));
const all = Array.from({ length: MANY }, (_, n) => n);

test('operations are moved concurrently, but not all at once', async () => {
  const { store, told } = storeThatTells();
  const ann = await guestOf(store);
  told.most = 0;
  await move(ann, 'guest');
  expect(told.most).toBeGreaterThan(8);
  expect(told.most).toBeLessThan(MANY);
  expect(await namesOf(ann)).toEqual(all);
});

test('if the store fails in the middle, `move` rejects only when no update is under way any more, and the next `move` brings the rest', async () => {
  const made = storeThatTells();
  const ann = await guestOf(made.store);
  const from = made.told.updates;
  made.fails = (n) => n === from + 70;
  await expect(move(ann, 'guest')).rejects.toThrow('the store is away');
  expect(made.told.underWay).toBe(0);
  const { updates } = made.told;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(made.told.updates).toBe(updates);
  await move(ann, 'guest');
  expect(await namesOf(ann)).toEqual(all);
});

test.each<[string, Response | undefined, state: 'pending' | 'retired', damage: object]>([
  ['unsettled', undefined, 'pending', {}],
  ['refused, whose keys stay in use', Response.json({ code: 'bad_card' }, { status: 400 }), 'retired', {}],
  ['damaged', undefined, 'pending', { key: 'x' }],
])('operations that fill more than two pages are all moved: %s', async (_, answer, state, damage) => {
  const count = 2 * PAGE + 1;
  const medium = memoryMedium();
  const ids = new Set<string>();
  const memory = memoryStore({ medium });
  const store: Store = { ...memory, update: (id, ...how) => memory.update(ids.add(id) && id, ...how) };
  const meets = () => (answer ? Promise.resolve(answer.clone()) : Promise.reject(new TypeError('the answer is lost')));
  const client = (namespace: string): Once => createOnce({ namespace, store, fetch: meets, limits: { attempts: 1 } });
  const guest = client('guest');
  const pay = (n: number) => guest.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', n] }).catch(() => {});
  await Promise.all(Array.from({ length: count }, (_, n) => pay(n)));
  for (const id of ids) medium.set(id, { ...(medium.get(id) as object), ...damage });
  await move(client('ann'), 'guest');
  const left = [...ids].flatMap((id) => (medium.get(id) as OnceRecord | undefined) ?? []);
  expect(left).toHaveLength(count);
  expect(new Set(left.map((one) => one.ns)).size).toBe(1);
  expect(left).toMatchObject(left.map(() => ({ state, ...damage })));
});
