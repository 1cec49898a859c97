/** Reads the pending records of a namespace, page by page. */
import type { Label, Namespace, OperationKey } from '../core/ids.js';
import { namePrefix, type OperationName } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import type { ScanPage, ScanQuery, Store } from '../ports.js';
import { addressOf, digestOfNamespace } from './address.js';
import type { Client } from './client.js';
import { emit } from './observe.js';
import { storeForOperation, timed } from './record-access.js';

/** Records in one page of a listing. */
export const PAGE = 100;

export interface Scanned {
  readonly record: OnceRecord;
  readonly operationKey: OperationKey;
  /** Where it was found. */
  readonly store: Store;
  /** Another tab stored this record, but this context keeps a record of the same name in memory, and goes on with the one in memory. */
  readonly hidden: boolean;
}

interface Page<T> {
  readonly records: readonly T[];
  /** The cursor of the next page; `undefined` if there is none. */
  readonly next?: string | undefined;
}

/** Reads one page of pending records. `start`: what their labels begin with. */
export type Pages = (start: string | undefined, after: string | undefined) => Promise<Page<Scanned>>;

/**
 * Readers for the pending records of a namespace: one for the store, and one for memory if records live there because the store did not
 * take them. `all`: hidden ones too.
 */
export async function pendingIn(client: Client, namespace: Namespace, prefix: OperationName | undefined, all = false): Promise<readonly Pages[]> {
  const ns = await digestOfNamespace(client, namespace);
  const wanted = namePrefix(prefix);
  return storesOf(client).map((store) => async (start = wanted?.start, after) => {
    const page = await scanPage(client, store, { ns, state: 'pending', prefix: start }, after);
    const records = page.records.flatMap((stored) => {
      const record = readRecord(stored);
      // Nobody can go on with it, and a screen can't show it, so at least logs hear of it, with what can still be read of its name.
      const where = String((stored as { readonly label?: unknown } | undefined)?.label);
      if (!record) emit({ client, namespace, name: [], label: where as Label }, '', { type: 'diagnostic', code: 'record-damaged', where });
      if (!record || (wanted && !wanted.begins(record.label))) return [];
      const { operationKey } = addressOf(client, record.label, namespace, record);
      // Compare scopes, not objects: each client has its own object for the same memory.
      const hidden = storeForOperation({ client, operationKey }).scope !== store.scope;
      return all || !hidden ? [{ record, operationKey, store, hidden }] : [];
    });
    return { ...page, records };
  });
}

/** Which records, apart from the place in the list. */
type Query = Omit<Extract<ScanQuery, { ns: string }>, 'after' | 'limit'>;

/** One page of a store's records. Rejects if the page names itself as the next one, because the scan would never end. */
async function scanPage(client: Client, store: Store, query: Query, after: string | undefined, until?: number): Promise<ScanPage> {
  const page = await timed(client, store.scan({ ...query, after, limit: PAGE }), until);
  if (page.next !== undefined && page.next === after) throw new Error(`once: the store ${store.kind} repeats a page for ever`);
  return page;
}

/** All records of a store that the query asks for, damaged ones included. `until`: the deadline of the call, ms since 1970. */
export const recordsIn = (client: Client, store: Store, query: Query, until?: number): AsyncGenerator<unknown> =>
  listed((after) => scanPage(client, store, query, after, until));

/** The store, and the memory for records that the store did not take. */
export const storesOf = (client: Client): readonly Store[] => (client.registry.degraded.size ? [client.store, client.fallback()] : [client.store]);

/** Which pending records to list. `after`: the cursor behind which the list begins. `all`: hidden ones too. */
interface Listing {
  readonly prefix?: OperationName | undefined;
  readonly after?: string | undefined;
  readonly all?: boolean;
}

/** The pending records of a namespace, page by page, in the order of their names. */
export async function* scanPending(client: Client, namespace: Namespace, { prefix, after, all }: Listing = {}): AsyncGenerator<Scanned> {
  const heads: { readonly list: AsyncGenerator<Scanned, undefined>; next: Scanned | undefined }[] = [];
  for (const pages of await pendingIn(client, namespace, prefix, all)) {
    const list = listed((cursor) => pages(undefined, cursor), after);
    heads.push({ list, next: (await list.next()).value });
  }
  for (;;) {
    // The two are merged in order, because callers have one cursor for both: otherwise it could skip records of one of them. Of a name that both
    // have, the one in memory comes first.
    const [first, second] = heads.filter(({ next }) => next);
    const head = first?.next && second?.next && comesBefore(second.next, first.next) ? second : first;
    if (!head?.next) return;
    yield head.next;
    head.next = (await head.list.next()).value;
  }
}

/** What is on all pages from the cursor `after` on. */
async function* listed<T>(pageAt: (after: string | undefined) => Promise<Page<T>>, after?: string): AsyncGenerator<T, undefined> {
  let cursor = after;
  do {
    const page = await pageAt(cursor);
    yield* page.records;
    cursor = page.next;
  } while (cursor !== undefined);
}

const comesBefore = ({ record: a }: Scanned, { record: b }: Scanned): boolean => a.label < b.label || (a.label === b.label && a.id <= b.id);
