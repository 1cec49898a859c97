/** What is pending, for an app and its screens. */
import type { OperationName } from '../core/name.js';
import type { OnceRecord } from '../core/record.js';
import { leaseHolds } from '../core/retention.js';
import type { Client } from './client.js';
import { type PendingOperation, pendingOf } from './observe.js';
import { isSamePerson, lockOf, namespaceOf } from './place.js';
import { PAGE, scanPending } from './records.js';

/** As far as its time can be read on this clock: only what is shown depends on it. */
const leased = (client: Client, { lease }: OnceRecord): boolean => leaseHolds(lease, client.platform.clock.now()) && lease.owner !== client.owner;

export async function listPending(
  client: Client,
  namespace: string,
  options: { prefix?: OperationName | undefined; limit?: number | undefined; after?: string | undefined },
): Promise<readonly PendingOperation[]> {
  const found: PendingOperation[] = [];
  const limit = options.limit ?? PAGE;
  if (limit < 1) throw new RangeError(`once: limit must be at least 1, got ${limit}`);
  let held: ReadonlySet<string> | undefined;
  for await (const { record, slot } of scanPending(client, namespace, options.prefix, options.after)) {
    held ??= (await client.platform.locks?.held?.().catch(() => undefined)) ?? new Set();
    const own = record.label[0] === '~' ? record.id : undefined;
    const busy = client.registry.flights.has(slot) || held.has(lockOf(client, { namespace, label: record.label, id: own })) || leased(client, record);
    found.push(pendingOf(record, client.registry.payloads.has(`${slot}\n${record.key}`), busy));
    if (found.length >= limit) break;
  }
  // Another user logged in while it was read: what is shown now is theirs.
  return isSamePerson(client, namespace) ? found : listPending(client, namespaceOf(client), options);
}
