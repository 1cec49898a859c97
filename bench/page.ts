/** What `browsers.ts` runs in a page. Every time is between a call and the first byte, or a whole call over a stub: no network is in it. */
import { createOnce, indexedDbStore, localStorageStore, memoryStore, type Store } from 'oncefetch';
import { answer, answered } from './lib/answers.ts';
import { POST } from './lib/payment.ts';
import { type Case, elapsed, FirstByte, inTurns, type Rounds } from './lib/turns.ts';

const URL_ = '/api/payments';
const RECORD = { id: '', ns: 'n', state: 'settled', label: '["old"]', forgetAt: 0, pad: 'x'.repeat(450) };
const DAY = 86_400_000;

const request = <T>(of: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    of.onsuccess = () => resolve(of.result);
    of.onerror = () => reject(of.error);
  });
const completed = (transaction: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });

/** A database as bare as can be: one table, no index. */
async function bareDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(`bare-${Math.random()}`);
  opening.onupgradeneeded = () => opening.result.createObjectStore('records');
  return request(opening);
}

function commit(db: IDBDatabase, durability: 'strict' | 'relaxed', id: string): Promise<void> {
  const transaction = db.transaction('records', 'readwrite', { durability });
  transaction.objectStore('records').put({ ...RECORD, id }, id);
  transaction.commit();
  return completed(transaction);
}

const locked = (work: () => unknown): Promise<unknown> => navigator.locks.request(`bare ${Math.random()}`, work);

function clientOf(store: Store): { first: FirstByte; call: () => Promise<unknown> } {
  const first = new FirstByte(answer);
  const once = createOnce({ namespace: 'bench', store, fetch: first.fetch });
  let n = 0;
  return { first, call: async () => (await once.fetch(URL_, { ...POST, once: ['pay', ++n, Math.random()] })).json() };
}

const STORES = {
  IndexedDB: () => indexedDbStore({ name: `bench-${Math.random()}` }),
  localStorage: () => localStorageStore({ prefix: 'bench' }),
  memory: memoryStore,
};

async function stores(rounds: number, calls: number): Promise<Rounds> {
  const db = await bareDatabase();
  let id = 0;
  const cases: Record<string, Case> = {
    'one strict commit': () => elapsed(() => commit(db, 'strict', `a${++id}`)),
    'one Web Lock': () => elapsed(() => locked(() => {})),
    'bare: lock and strict commit': () => elapsed(() => locked(() => commit(db, 'strict', `b${++id}`))),
    'bare: lock, strict and relaxed commit': () =>
      elapsed(() =>
        locked(async () => {
          await commit(db, 'strict', `c${++id}`);
          await commit(db, 'relaxed', `c${id}`);
        }),
      ),
    'bare: the same, and an answer read': answered(() =>
      elapsed(() =>
        locked(async () => {
          await commit(db, 'strict', `d${++id}`);
          await answer().json();
          await commit(db, 'relaxed', `d${id}`);
        }),
      ),
    ),
    'bare: an answer read': answered(() => elapsed(() => answer().json())),
    'bare: an answer read, and a copy of it': answered(() =>
      elapsed(async () => {
        const given = answer();
        await given.clone().text();
        await given.json();
      }),
    ),
  };
  for (const [name, make] of Object.entries(STORES)) {
    const { first, call } = clientOf(make());
    cases[`${name}: to the first byte`] = answered(() => first.of(call));
    cases[`${name}: whole`] = answered(() => elapsed(call));
  }
  return inTurns(cases, rounds, calls);
}

async function fillIndexedDb(name: string, count: number): Promise<void> {
  const db = await request(indexedDB.open(name));
  for (let n = 0; n < count; n += 2000) {
    const transaction = db.transaction('records', 'readwrite', { durability: 'relaxed' });
    for (let at = n; at < Math.min(count, n + 2000); at++) {
      const id = `old${at}`;
      transaction.objectStore('records').put({ ...RECORD, id, label: `["old",${at}]`, forgetAt: Date.now() + 30 * DAY + at }, id);
    }
    await completed(transaction);
  }
  db.close();
}

/** Beneath the store, where its own first record shows how it is kept. */
function fillLocalStorage(prefix: string, count: number): void {
  const like = Object.keys(localStorage).find((key) => key.includes(`${prefix}/`));
  if (!like) throw new Error('the store has written nothing');
  const base = like.slice(0, like.lastIndexOf('/') + 1);
  for (let n = 0; n < count; n++) localStorage.setItem(`${base}old${n}`, JSON.stringify({ ...RECORD, id: `old${n}`, forgetAt: Date.now() + 30 * DAY }));
}

async function records(rounds: number, calls: number): Promise<Rounds> {
  const cases: Record<string, Case> = {};
  for (const count of [10, 100_000]) {
    const name = `full-${count}-${Math.random()}`;
    const { call } = clientOf(indexedDbStore({ name }));
    const timed = answered(() => elapsed(call));
    await timed();
    await fillIndexedDb(name, count);
    cases[`IndexedDB ${count}`] = timed;
  }
  const inDatabase = await inTurns(cases, rounds, calls);
  // One localStorage for all: emptied and filled in turn, so that rounds and not calls are interleaved.
  const { call } = clientOf(localStorageStore({ prefix: 'full' }));
  const timed = answered(() => elapsed(call));
  const seen: Record<string, number[]> = { 'localStorage 10': [], 'localStorage 5000': [] };
  for (let round = 0; round < rounds; round++) {
    for (const count of [10, 5000]) {
      localStorage.clear();
      await timed();
      fillLocalStorage('full', count);
      seen[`localStorage ${count}`]?.push(...((await inTurns({ timed }, 1, calls))['timed'] ?? []));
    }
  }
  localStorage.clear();
  return { ...inDatabase, ...seen };
}

Object.assign(globalThis, { benchStores: stores, benchRecords: records });
