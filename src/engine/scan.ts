/** Reads the pending records of a namespace, page by page. */
import type { Namespace, OperationKey } from '../core/ids.js';
import { isUnnamed, namePrefix, type OperationName } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import type { Store } from '../ports.js';
import { digestOfNamespace, operationKeyOf } from './address.js';
import type { Client } from './client.js';
import { storeForOperation, timed } from './record-access.js';

/** Records looked at in one step of a listing. */
export const PAGE = 100;

export interface Scanned {
  readonly record: OnceRecord;
  readonly operationKey: OperationKey;
}

/** An unnamed operation is kept apart from its equals by its key. */
export const operationKeyOfRecord = (client: Client, namespace: Namespace, { label, key }: Pick<OnceRecord, 'label' | 'key'>): OperationKey =>
  operationKeyOf(client, namespace, label, isUnnamed(label) ? key : '');

/** One page of pending records. `start`: what their labels' text begins with. */
export type Pages = (start: string | undefined, after: string | undefined) => Promise<{ found: Scanned[]; next: string | undefined }>;

/** Where the pending records of a namespace are: in the store, and in memory if their first write failed. */
export async function pendingIn(client: Client, namespace: Namespace, prefix: OperationName | undefined): Promise<readonly Pages[]> {
  const ns = await digestOfNamespace(client, namespace);
  const wanted = prefix?.length ? namePrefix(prefix) : undefined;
  return storesOf(client).map((store) => async (start = wanted?.start, after) => {
    const { records, next } = await timed(client, store.scan({ ns, state: 'pending', prefix: start, after, limit: PAGE }));
    const found = records.flatMap((stored) => {
      const record = readRecord(stored);
      if (!record || (wanted && !wanted.begins(record.label))) return [];
      const operationKey = operationKeyOfRecord(client, namespace, record);
      // Scopes are compared, because each client has an object of its own for the same memory.
      return storeForOperation(client, operationKey).scope === store.scope ? [{ record, operationKey }] : [];
    });
    return { found, next };
  });
}

/** The store, and the memory for records that it could not take. */
export const storesOf = (client: Client): readonly Store[] => (client.registry.degraded.size ? [client.store, client.fallback()] : [client.store]);

/** The pending records of a namespace, page by page, in the order of their names. */
export async function* scanPending(
  client: Client,
  namespace: Namespace,
  prefix: OperationName | undefined,
  after: string | undefined,
): AsyncGenerator<Scanned> {
  for (const pages of await pendingIn(client, namespace, prefix)) {
    let cursor = after;
    do {
      const page = await pages(undefined, cursor);
      yield* page.found;
      cursor = page.next;
    } while (cursor !== undefined);
  }
}
