/** Records in IndexedDB: the store of browsers. */
import { promisifyRequest, type UseStore } from 'idb-keyval';
import type { Durability, ScanPage, ScanQuery, Store, Stored } from '../../ports.js';
import { createStore, type Next, pageOf } from '../base.js';
import { isPlatforms, StoreFault } from '../fault.js';

/** Options of `indexedDbStore`. */
export interface IndexedDbStoreOptions {
  /** The database's name. @default 'oncefetch' */
  readonly name?: string | undefined;
  /** How long the database may take to open, ms, where another tab deletes it or the browser hangs. @default 5_000 */
  readonly openTimeoutMs?: number | undefined;
}

const RECORDS = 'records';
const OPEN_MS_MAX = 5000;

/**
 * A store that all tabs and workers of one origin share. An update is strict unless it says `relaxed`.
 *
 * @example
 * const once = createOnce({ store: indexedDbStore({ name: 'shop' }) });
 */
export function indexedDbStore({ name = 'oncefetch', openTimeoutMs = OPEN_MS_MAX }: IndexedDbStoreOptions = {}): Store {
  const scope = `indexeddb:${name}`;
  let opening: Promise<IDBDatabase> | undefined;

  const drop = (connecting = opening): void => {
    if (opening === connecting) opening = undefined;
    // Transactions that run on it end first.
    connecting?.then((db) => db.close()).catch(() => {});
  };
  const open = (): Promise<IDBDatabase> => {
    if (!opening) {
      const connecting = connect(name, openTimeoutMs, () => drop(connecting));
      opening = connecting;
      // A failure is not kept: the next call tries anew.
      connecting.catch(() => drop(connecting));
    }
    return opening;
  };
  /**
   * One transaction; once more on a new connection if the platform fails (iOS kills connections in the background), as long
   * as it is certain that nothing was written.
   */
  const transact =
    (durability: Durability, wrote = () => false): UseStore =>
    async (mode, work) => {
      for (let again = true; ; again = false) {
        const connecting = open();
        try {
          const db = await connecting;
          return await work(db.transaction(RECORDS, mode, { durability }).objectStore(RECORDS));
        } catch (error) {
          if (!again || wrote() || !isPlatforms(error)) throw error;
          drop(connecting);
        }
      }
    };

  // What every commit outlives is the process; a strict one outlives the machine's crash too.
  return createStore(
    { kind: 'indexeddb', scope, survives: 'process', shared: 'origin', atomic: true },
    {
      here: () => globalThis.indexedDB,
      available: open,
      update(id, next, durability) {
        let written: Next;
        return transact(durability, () => written !== undefined)('readwrite', (records) =>
          updateIn(records, id, (current) => {
            written = next(current);
            return written;
          }),
        );
      },
      // Its own `get` brings along a default store, which nobody opens.
      read: (id) => transact('relaxed')('readonly', (records) => promisifyRequest(records.get(id))),
      scan: (query) => transact('relaxed')('readonly', (records) => scanIn(records, query)),
      close: drop,
    },
  );
}

/** Resolves when the transaction is committed, not when the put succeeded, which can still fail to be. */
function updateIn(records: IDBObjectStore, id: string, next: (current: unknown) => Next): Promise<void> {
  return new Promise((resolve, reject) => {
    const { transaction } = records;
    const found = records.get(id);
    found.onsuccess = () => {
      try {
        const value = next(found.result);
        const write = value ? records.put(value, id) : value === null ? records.delete(id) : undefined;
        // Firefox fires "complete" for a committed transaction whose put was refused; the request itself tells.
        if (write) write.onerror = () => reject(write.error);
        // Else it looks for more work first, a quarter of its time. Not in Safari before 15.
        transaction.commit?.();
      } catch (error) {
        reject(error);
      }
    };
    transaction.oncomplete = () => resolve();
    // Not onerror: that comes before the transaction knows its error.
    transaction.onabort = () => reject(transaction.error);
  });
}

async function scanIn(records: IDBObjectStore, query: ScanQuery): Promise<ScanPage> {
  const all = (index: string, range: IDBKeyRange, count: number): Promise<Stored[]> => promisifyRequest(records.index(index).getAll(range, count));
  if ('before' in query) return pageOf(await all('time', IDBKeyRange.upperBound(query.before), query.limit), query);
  const { ns, state, prefix = '', after, limit } = query;
  const from = after ? (JSON.parse(after) as [string, string]) : undefined;
  // A cursor of a longer list may lie before the prefix: what stands between the two must not use up the count.
  const start = from && from[0] >= prefix ? from : [prefix];
  // An array comes after every string: the range ends where the state does. One more for the record that `after` names, one
  // more to know whether there is a next page.
  return pageOf(await all('label', IDBKeyRange.bound([ns, state, ...start], [ns, state, []]), limit + 2), query);
}

/** Without a version: it never upgrades what is there, and is never too old for it. */
async function connect(name: string, timeoutMs: number, lost: () => void, version?: number): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => {
    const records = request.result.createObjectStore(RECORDS);
    records.createIndex('label', ['ns', 'state', 'label', 'id']);
    records.createIndex('time', 'forgetAt');
  };
  const opened = promisifyRequest(request);
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(reject, timeoutMs, new StoreFault('blocked', `the store did not open within ${timeoutMs} ms`));
  });
  try {
    const db = await Promise.race([opened, timeout]);
    // No onclose: a transaction on a dead connection throws, and is tried on a new one.
    db.onversionchange = lost;
    if (db.objectStoreNames.length) return db;
    // Empty: other code has looked whether it is there, and so made it.
    db.close();
    return connect(name, timeoutMs, lost, db.version + 1);
  } catch (error) {
    // It may still come.
    opened.then((late) => late.close()).catch(() => {});
    throw (await isRefusal(Object(error))) ? new StoreFault('denied', 'IndexedDB is refused', error) : error;
  }
}

/**
 * Whether it is somebody's will that there is no store, and not a trouble that may pass. A SecurityError says so itself. Private windows of
 * Firefox before 115 say InvalidStateError. Chromium where the user blocks site data says what it says of a broken disk; Web Locks are
 * blocked with it, and are clearer.
 */
const isRefusal = async ({ name }: Partial<Error>): Promise<boolean | undefined> =>
  name === 'InvalidStateError' ||
  (name === 'UnknownError' &&
    navigator.locks?.query().then(
      () => false,
      (refusal) => refusal.name === 'SecurityError',
    ));
