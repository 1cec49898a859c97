/** The code that `browsers.ts` runs in a page. Each time is from a call to its first byte, or that of a whole call over a stub: without the network. */
import { createOnce, indexedDbStore, localStorageStore, memoryStore, type Store } from 'oncefetch';
import { answer, answered } from './lib/answers.ts';
import { floor } from './lib/floor.ts';
import { POST } from './lib/payment.ts';
import { Stages } from './lib/stages.ts';
import { type Case, elapsed, FirstByte, inTurns, type Rounds, WARM } from './lib/turns.ts';

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

/** The barest possible database: one object store, no index. */
async function bareDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open(`bare-${Math.random()}`);
  opening.onupgradeneeded = () => opening.result.createObjectStore('records');
  return request(opening);
}

function commit(db: IDBDatabase, durability: 'strict' | 'relaxed', id: string, record: object = RECORD): Promise<void> {
  const transaction = db.transaction('records', 'readwrite', { durability });
  transaction.objectStore('records').put({ ...record, id }, id);
  transaction.commit();
  return completed(transaction);
}

const locked = (work: () => unknown): Promise<unknown> => navigator.locks.request(`bare ${Math.random()}`, work);

const bytes = new TextEncoder();

/** The floor over bare commits: what a named call cannot do without. */
function floorOf(db: IDBDatabase): { first: FirstByte; call: () => Promise<unknown> } {
  const first = new FirstByte(answer);
  const atLeast = floor(
    {
      fetch: first.fetch,
      digest: async (text) => {
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.encode(text)));
        return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
      },
      lock: (name) =>
        new Promise((got) => {
          void navigator.locks.request(name, () => new Promise<void>((release) => got(release)));
        }),
      begin: (record) => commit(db, 'strict', record.id, record),
      settle: (record) => commit(db, 'relaxed', record.id, record),
    },
    location.href,
  );
  let n = 0;
  return { first, call: async () => (await atLeast(URL_, POST, ['pay', ++n, Math.random()])).json() };
}

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
  // Fetches an answer from the network before each case, as happens between two calls. Without it, the database would
  // still be active from the previous case.
  const timed = (work: () => Promise<unknown>): Case => answered(() => elapsed(work));
  const cases: Record<string, Case> = {
    'one strict commit': timed(() => commit(db, 'strict', `a${++id}`)),
    'one relaxed commit': timed(() => commit(db, 'relaxed', `r${++id}`)),
    'one Web Lock': timed(() => locked(() => {})),
    'bare: lock and strict commit': timed(() => locked(() => commit(db, 'strict', `b${++id}`))),
    'bare: lock, strict and relaxed commit': timed(() =>
      locked(async () => {
        await commit(db, 'strict', `c${++id}`);
        await commit(db, 'relaxed', `c${id}`);
      }),
    ),
    'bare: the same, and an answer read': timed(() =>
      locked(async () => {
        await commit(db, 'strict', `d${++id}`);
        await answer().json();
        await commit(db, 'relaxed', `d${id}`);
      }),
    ),
    'bare: an answer read': timed(() => answer().json()),
    'bare: an answer read, and a copy of it': timed(async () => {
      const given = answer();
      await given.clone().text();
      await given.json();
    }),
  };
  const clients = {
    'bare: what a call cannot do without': floorOf(db),
    ...Object.fromEntries(Object.entries(STORES).map(([name, make]) => [name, clientOf(make())])),
  };
  for (const [name, { first, call }] of Object.entries(clients)) {
    cases[`${name}: to the first byte`] = answered(() => first.of(call));
    cases[`${name}: whole`] = timed(call);
  }
  return inTurns(cases, rounds, calls, WARM);
}

/** Where the time of a call on IndexedDB goes. */
async function stages(rounds: number, calls: number): Promise<Rounds> {
  const seen = new Stages(async () => answer());
  const { request } = LockManager.prototype;
  LockManager.prototype.request = function (this: LockManager, name: string, options: object, work: LockGrantedCallback<unknown>) {
    seen.mark('to the lock');
    return request.call(this, name, options, (lock) => {
      seen.mark('the lock, and meanwhile three digests');
      return work(lock);
    });
  } as typeof request;
  const once = createOnce({ namespace: 'bench', store: seen.store(STORES.IndexedDB()), fetch: seen.fetch });
  let n = 0;
  const call = async (): Promise<unknown> => (await once.fetch(URL_, { ...POST, once: ['pay', ++n, Math.random()] })).json();
  for (let at = 0; at < WARM * calls + rounds * calls; at++) await answered(() => elapsed(() => seen.of(call)))();
  LockManager.prototype.request = request;
  return seen.seen();
}

/** The time of a page's first call, which opens the database and runs code that is not compiled yet; or the lower bound of that time. */
async function firstOfPage(ours: boolean): Promise<number> {
  if (ours) {
    const { first, call } = clientOf(STORES.IndexedDB());
    return answered(() => first.of(call))();
  }
  return answered(() => elapsed(() => locked(async () => commit(await bareDatabase(), 'strict', 'first'))))();
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

/** Writes records beneath the store, under keys like that of the first record which the store itself wrote. */
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
  // All cases share one localStorage, which is emptied and filled again for each. So whole rounds take turns, not single
  // calls.
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

Object.assign(globalThis, { benchStores: stores, benchStages: stages, benchRecords: records, benchFirst: firstOfPage });
