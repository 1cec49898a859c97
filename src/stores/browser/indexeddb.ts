/** Records in IndexedDB: the store of browsers. */
import { promisifyRequest } from 'idb-keyval';
import type { ScanPage, ScanQuery, Store, Stored } from '../../ports.js';
import { createStore, type Next, pageOf } from '../base.js';
import { isPlatforms, StoreFault } from '../fault.js';
import { onlyOptions } from '../only-options.js';

/** Options of `indexedDbStore`. */
export interface IndexedDbStoreOptions {
  /** The database's name. @default 'oncefetch' */
  readonly name?: string | undefined;
  /** How long the database may take to open, ms. It may hang while another tab deletes it, for example. @default 5_000 */
  readonly openTimeoutMs?: number | undefined;
}

const RECORDS = 'records';
const OPEN_MS_MAX = 5000;

/**
 * A store that all tabs and workers of one origin share. Updates are strict unless they ask for `relaxed`.
 *
 * @example
 * const once = createOnce({ store: indexedDbStore({ name: 'shop' }) });
 */
export function indexedDbStore(options: IndexedDbStoreOptions = {}): Store {
  onlyOptions('indexedDbStore', options, { name: 'string', openTimeoutMs: 'number' });
  const { name = 'oncefetch', openTimeoutMs = OPEN_MS_MAX } = options;
  const scope = `indexeddb:${name}`;
  let opening: Promise<IDBDatabase> | undefined;

  const drop = (connecting = opening): void => {
    if (opening === connecting) opening = undefined;
    // `close` lets transactions that are running finish first.
    connecting?.then((db) => db.close()).catch(() => {});
  };
  const open = (): Promise<IDBDatabase> => {
    if (!opening) {
      const connecting = connect(name, openTimeoutMs, () => drop(connecting));
      opening = connecting;
      // Do not keep a failed connection, so that the next call tries again.
      connecting.catch(() => drop(connecting));
    }
    return opening;
  };
  /**
   * Runs one transaction. If the platform fails (iOS kills connections in the background) and it is certain that nothing was written,
   * runs it once more on a new connection.
   */
  const transact = async <T>(
    work: (records: IDBObjectStore) => Promise<T>,
    mode?: IDBTransactionMode,
    options?: IDBTransactionOptions,
    wrote?: () => boolean,
  ): Promise<T> => {
    for (let again = true; ; again = false) {
      const connecting = open();
      try {
        const db = await connecting;
        return await work(db.transaction(RECORDS, mode, options).objectStore(RECORDS));
      } catch (error) {
        if (!again || wrote?.() || !isPlatforms(error)) throw error;
        drop(connecting);
      }
    }
  };

  // Every commit survives the end of the process; a strict one also survives a crash of the machine.
  return createStore(
    { kind: 'indexeddb', scope, survives: 'process', shared: 'origin', atomic: true },
    {
      available: open,
      update(id, next, durability) {
        let written: Next;
        const work = (records: IDBObjectStore) =>
          updateIn(records, id, (current) => {
            written = next(current);
            return written;
          });
        return transact(work, 'readwrite', { durability }, () => written !== undefined);
      },
      // Not the `get` of idb-keyval, which would add code for a default store that is never used.
      read: (id) => transact((records) => promisifyRequest(records.get(id))),
      scan: (query) => transact((records) => scanIn(records, query)),
      close: drop,
    },
  );
}

/** Resolves when the transaction is committed, not as soon as the put succeeds, because the commit can still fail. */
function updateIn(records: IDBObjectStore, id: string, next: (current: unknown) => Next): Promise<void> {
  return new Promise((resolve, reject) => {
    const { transaction } = records;
    const found = records.get(id);
    found.onsuccess = () => {
      try {
        const value = next(found.result);
        const write = value ? records.put(value, id) : value === null ? records.delete(id) : undefined;
        // Firefox fires "complete" even for a transaction whose put was refused. Only the request itself tells.
        if (write) write.onerror = () => reject(write.error);
        // Without `commit`, the browser first waits for more requests, which takes a quarter of the transaction's time. Safari before 15 lacks it.
        transaction.commit?.();
      } catch (error) {
        reject(error);
      }
    };
    transaction.oncomplete = () => resolve();
    // Not onerror, which comes before `transaction.error` is set.
    transaction.onabort = () => reject(transaction.error);
  });
}

async function scanIn(records: IDBObjectStore, query: ScanQuery): Promise<ScanPage> {
  const all = (index: string, range: IDBKeyRange, count: number): Promise<Stored[]> => promisifyRequest(records.index(index).getAll(range, count));
  if ('before' in query) return pageOf(await all('time', IDBKeyRange.upperBound(query.before), query.limit), query);
  const { ns, state, prefix = '', after, limit } = query;
  const from = after ? (JSON.parse(after) as [string, string]) : undefined;
  // The cursor of a longer list may be before the prefix. Records between the two must not use up the count.
  const start = from && from[0] >= prefix ? from : [prefix];
  // In IndexedDB arrays sort after strings, so the range ends with the last record of the state. `limit` plus 2: one for the record
  // that `after` names, one to know whether there is a next page.
  return pageOf(await all('label', IDBKeyRange.bound([ns, state, ...start], [ns, state, []]), limit + 2), query);
}

/** Opens the database without a version, so that it never upgrades an existing one, and no existing one is too new for it. */
async function connect(name: string, timeoutMs: number, lost: () => void, version?: number): Promise<IDBDatabase> {
  if (!globalThis.indexedDB) throw new StoreFault('denied', 'no IndexedDB');
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => {
    const records = request.result.createObjectStore(RECORDS);
    records.createIndex('label', ['ns', 'state', 'label', 'id']);
    records.createIndex('time', 'forgetAt');
  };
  const opened = promisifyRequest(request);
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(reject, timeoutMs, new StoreFault('blocked', `not open in ${timeoutMs} ms`));
  });
  try {
    const db = await Promise.race([opened, timeout]);
    // No `onclose` is needed: a transaction on a dead connection throws, and is run again on a new one.
    db.onversionchange = lost;
    if (db.objectStoreNames.length) return db;
    // The database is empty: other code has opened it to see whether it exists, and so created it.
    db.close();
    return connect(name, timeoutMs, lost, db.version + 1);
  } catch (error) {
    // If the connection opens after all, close it.
    opened.then((late) => late.close()).catch(() => {});
    throw (await isRefusal(Object(error))) ? new StoreFault('denied', 'IndexedDB is refused', error) : error;
  }
}

/**
 * Whether the user or the browser refuses storage on purpose, as opposed to a failure that may pass. A SecurityError is handled elsewhere.
 * Private windows of Firefox before 115 give an InvalidStateError. If the user blocks site data, Chromium gives the same error as for a
 * broken disk; but it blocks Web Locks too, whose error is clear.
 */
const isRefusal = async ({ name }: Partial<Error>): Promise<boolean | undefined> =>
  name === 'InvalidStateError' ||
  (name === 'UnknownError' &&
    navigator.locks?.query().then(
      () => false,
      (refusal) => refusal.name === 'SecurityError',
    ));
