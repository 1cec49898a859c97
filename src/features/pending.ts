/** Lists pending operations, for an app and its screens. */

import { check } from '../check.js';
import type { OperationName } from '../core/name.js';
import { addressOf, namespaceNow } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { knownDone } from '../engine/last-known.js';
import { isOwnerGone } from '../engine/owner.js';
import { heldElsewhere, timed } from '../engine/record-access.js';
import { PAGE, scanPending } from '../engine/scan.js';
import type { PendingOperation } from '../engine/shown-state.js';
import { pendingOf } from '../engine/state-of-record.js';
import { jsonOf } from '../http/bytes.js';
import { clientOf, type Once } from '../once.js';
import type { Json } from '../option-types.js';
import { wrong } from '../texts/full.js';

/** Which unsettled operations to list. */
export interface PendingOptions {
  /** Only operations whose names begin with this. */
  prefix?: OperationName | undefined;
  /** The most that are listed; `after` lists the next ones. @default 100 */
  limit?: number | undefined;
  /** The `cursor` of the last operation of the previous page. */
  after?: string | undefined;
}

/**
 * Lists the operations that have not settled, ordered by name. `Meta` is the type of what your calls give as `meta`. The list is
 * empty while nobody is logged in.
 *
 * @throws RangeError if `limit` is less than 1; TypeError on a wrong option
 * @example
 * const [last] = await pending(once, { prefix: ['pay'], limit: 1 });
 */
export async function pending<Meta = Json>(once: Once, options: PendingOptions = {}): Promise<readonly PendingOperation<Meta>[]> {
  const client = clientOf(once, 'pending');
  check(options, { prefix: 'array', limit: 'count', after: 'string' }, 'pending');
  // A cursor may come from a page's address, where anybody can change it, and stores differ in what they do with an invalid one.
  const { after } = options;
  if (after !== undefined && !isCursor(jsonOf(after))) throw new TypeError(wrong('pending.after', 'cursor', JSON.stringify(after.slice(0, 80))));
  return (await listPending(client, options)) as readonly PendingOperation<Meta>[];
}

const isCursor = (of: unknown): boolean => Array.isArray(of) && of.length === 2 && of.every((part) => typeof part === 'string');

/** The most reads of one listing, which is read again after a change of the user: an option `namespace` may give another user at each call. */
const READS_MAX = 10;

async function listPending(client: Client, options: PendingOptions, reads = READS_MAX): Promise<readonly PendingOperation[]> {
  const namespace = namespaceNow(client);
  const found: PendingOperation[] = [];
  if (namespace === undefined || !reads) return found;
  const limit = options.limit ?? PAGE;
  let held: readonly LockInfo[] | undefined;
  for await (const { record, operationKey } of scanPending(client, namespace, options)) {
    // This page may know that it is done although the store did not take that.
    if (knownDone({ client, operationKey }, record)) continue;
    held ??= await heldLocks(client);
    const { lock } = addressOf(client, record.label, namespace, record);
    // The lease is compared with this device's clock, which may differ from the store's. That is good enough for what is shown.
    const leased = async () => heldElsewhere(client, record, client.platform.clock.now()) && !(await isOwnerGone({ client, operationKey }, record));
    const busy = client.registry.flights.has(operationKey) || held.some(({ name }) => name === lock) || (await leased());
    found.push(pendingOf(client, operationKey, record, busy));
    if (found.length >= limit) break;
  }
  // If another user logged in during the read, list theirs instead; after a log-out, nothing.
  return namespaceNow(client) === namespace ? found : listPending(client, options, reads - 1);
}

/** The locks that are held; empty if the lock manager does not tell. */
async function heldLocks(client: Client): Promise<readonly LockInfo[]> {
  const request = client.platform.locks?.query?.();
  return (request && (await timed(client, request).catch(() => undefined)))?.held ?? [];
}
