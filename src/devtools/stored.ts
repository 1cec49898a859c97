/** Reads the present user's records: from the store, and from memory if the store did not take them. */
import { namespace } from 'oncefetch';
import type { Namespace } from '../core/ids.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { digestOfNamespace } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { storedIn, timed } from '../engine/record-access.js';
import type { Store } from '../ports.js';
import { faceOf } from './inside.js';

/** The most records that are read of each state and store. */
const READ_MAX = 1000;
const PAGE = 100;

export type StoredIn = 'disk' | 'session' | 'memory';

export interface Found {
  readonly record: OnceRecord;
  readonly storedIn: StoredIn;
}

export interface Stored {
  /** The user; `undefined` while nobody is logged in. */
  readonly namespace: string | undefined;
  readonly found: readonly Found[];
  /** There are more records than were read. */
  readonly more: boolean;
  /** The number of damaged records, which can't be shown. */
  readonly damaged: number;
  /** The locks that are held, here or elsewhere, if the lock manager tells. */
  readonly held?: readonly LockInfo[] | undefined;
}

export const NOTHING: Stored = { namespace: undefined, found: [], more: false, damaged: 0 };

/** Reads one state of one store, page by page. */
async function scan(store: Store, ns: string, state: OnceRecord['state']): Promise<{ found: Found[]; more: boolean; damaged: number }> {
  const found: Found[] = [];
  let damaged = 0;
  let after: string | undefined;
  do {
    const page = await store.scan({ ns, state, after, limit: PAGE });
    for (const stored of page.records) {
      const record = readRecord(stored);
      if (record) found.push({ record, storedIn: storedIn(store) });
      else damaged++;
    }
    after = page.next;
  } while (after !== undefined && found.length < READ_MAX);
  return { found, more: after !== undefined, damaged };
}

/** Reads the store. Rejects if it can't be read, or does not answer in time: Firefox never ends a read that the back-forward cache has interrupted. */
export async function readStore(client: Client): Promise<Stored> {
  const asked = namespace(faceOf(client));
  if (asked === undefined) return NOTHING;
  const ns = await digestOfNamespace(client, asked as Namespace);
  const stores = client.registry.degraded.size ? [client.store, client.fallback()] : [client.store];
  const scans = stores.flatMap((store) => (['pending', 'settled', 'retired'] as const).map((state) => scan(store, ns, state)));
  const [all, locks] = await timed(client, Promise.all([Promise.all(scans), client.platform.locks?.query?.().catch(() => undefined)]));
  return {
    namespace: asked,
    found: all.flatMap(({ found }) => found),
    more: all.some(({ more }) => more),
    damaged: all.reduce((sum, { damaged }) => sum + damaged, 0),
    held: locks?.held,
  };
}
