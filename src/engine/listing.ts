/** What is pending, for an app and its screens. */
import type { OperationName } from '../core/name.js';
import type { Client } from './client.js';
import { type PendingOperation, pendingOf } from './observe.js';
import { isSamePerson, lockOf, namespaceOf } from './place.js';
import { PAGE, scanPending } from './records.js';
import { heldElsewhere } from './storing.js';

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
    const lock = lockOf(client, { namespace, label: record.label, id: own });
    // A lease is read on this clock here, which may differ from the store's: only what is shown depends on it.
    const busy = client.registry.flights.has(slot) || held.has(lock) || heldElsewhere(client, record, client.platform.clock.now());
    found.push(pendingOf(record, client.registry.payloads.has(`${slot}\n${record.key}`), busy));
    if (found.length >= limit) break;
  }
  // Another user logged in while it was read: what is shown now is theirs.
  return isSamePerson(client, namespace) ? found : listPending(client, namespaceOf(client), options);
}
