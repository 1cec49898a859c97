/** What a page shows and knows of a guest's operations after `move`. */
import type { Namespace, OperationKey } from '../core/ids.js';
import { decodeName, isUnnamed } from '../core/name.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { addressOf, idOfUnnamed, idsOf, isOperationOf } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { publish } from '../engine/observe.js';
import { readStored } from '../engine/record-access.js';
import { keepLeftOpen } from '../engine/registry.js';
import { stateOf } from '../engine/shown.js';
import { apartIn, ownedAs } from './moved-keys.js';

/** Where a guest's record belongs in the namespace `to`. The id of an unnamed operation with a random key does not change. */
export async function placeIn(client: Client, to: Namespace, { label, key, random }: OnceRecord) {
  const id = isUnnamed(label) ? await idOfUnnamed(client, to, { key, random }) : undefined;
  const { operationKey, ...address } = addressOf(client, label, to, { key, id });
  return { client, operationKey, ...(await idsOf(client, address)) };
}

/** Shows what has moved. `known`: what this page knew of the guest's operation, in case the store loses that; it holds for the user's, too. */
export function showMoved(client: Client, from: OperationKey, to: OperationKey, stays: OnceRecord | undefined, known: OnceRecord | undefined): void {
  const left = stays && known?.ending ? { ...known, id: stays.id, ns: stays.ns, windowEndsAt: stays.windowEndsAt } : stays;
  if (left && known?.key === stays?.key && (known?.ending || left.state === 'pending'))
    keepLeftOpen({ client, operationKey: to, name: decodeName(left.label) }, left, left.lease);
  publish(client, from, stateOf(client, from, undefined));
  if (stays?.state === 'pending' && !client.registry.flights.has(to)) publish(client, to, stateOf(client, to, stays));
}

/**
 * Brings what only this page knows to operations of the user: what it knows to be done, although the store did not take that, because another tab may
 * have moved the operation before this page could; and what an earlier call left open, if the store has lost its record.
 */
export async function moveKnown(client: Client, from: Namespace, to: Namespace): Promise<void> {
  const { leftOpen } = client.registry;
  for (const [operationKey, known] of [...leftOpen])
    if (isOperationOf(client, from, operationKey)) {
      const { id, ns, operationKey: own } = await placeIn(client, to, known);
      const stored = await readStored({ client, operationKey: own, id });
      const isLost = stored === undefined && !leftOpen.has(own) && (await readStored({ client, operationKey, id: known.id })) === undefined;
      // The next `move` must not bring it again: by then the user's operation may have ended.
      if (isLost) leftOpen.delete(operationKey);
      if (isLost || known.ending) showMoved(client, operationKey, own, isLost ? seal(ownedAs({ id, ns }, known, apartIn(client))) : readRecord(stored), known);
    }
}
