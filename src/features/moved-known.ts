/** What a page knows of a guest's operations beside what is stored, and what it shows of them, when they become the user's. */
import type { Namespace, OperationKey } from '../core/ids.js';
import { decodeName } from '../core/name.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { isOperationOf } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { keepLastKnown } from '../engine/last-known.js';
import { publish } from '../engine/observe.js';
import { readStored } from '../engine/record-access.js';
import { stateOf } from '../engine/state-of-record.js';
import { apartIn, ownedAs, placeIn } from './moved-keys.js';

/** Shows what has moved. `known`: what this page knew of the guest's operation, in case the store loses that; it holds for the user's, too. */
export function showMoved(client: Client, from: OperationKey, to: OperationKey, stays: OnceRecord | undefined, known: OnceRecord | undefined): void {
  const left = stays && known?.ending ? { ...known, id: stays.id, ns: stays.ns, windowEndsAt: stays.windowEndsAt } : stays;
  if (left && known?.key === stays?.key && (known?.ending || left.state === 'pending'))
    keepLastKnown({ client, operationKey: to, name: decodeName(left.label) }, left, left.lease);
  publish(client, from, stateOf(client, from, undefined));
  if (stays?.state === 'pending' && !client.registry.flights.has(to)) publish(client, to, stateOf(client, to, stays));
}

/**
 * Brings what only this page knows to operations of the user: what it knows to be done, although the store did not take that, because another tab may
 * have moved the operation before this page could; and what an earlier call left open, if another tab has moved it, or if the store has lost its record
 * or has it damaged.
 */
export async function moveKnown(client: Client, from: Namespace, to: Namespace): Promise<void> {
  const { lastKnown } = client.registry;
  keepUnderWay(client, from);
  for (const [operationKey, known] of [...lastKnown])
    if (isOperationOf(client, from, operationKey)) {
      const { id, ns, operationKey: own } = await placeIn(client, to, known);
      const stored = readRecord(await readStored({ client, operationKey: own, id }));
      const isGone = !lastKnown.has(own) && !readRecord(await readStored({ client, operationKey, id: known.id }));
      const isLost = isGone && !stored;
      const isMoved = !known.ending && stored?.key === known.key;
      // The user has another operation of that name, of another page. If the store loses that one, this page goes on with the guest's.
      const isBeside = isGone && !known.ending && stored && stored.state !== 'settled' && !isMoved;
      const owned = seal(ownedAs({ id, ns }, known, apartIn(client)));
      if (isLost || isMoved || isBeside) dropOpen(client, operationKey);
      if (isBeside) keepLastKnown({ client, operationKey: own, name: decodeName(known.label) }, owned, known.lease);
      else if (isLost || isMoved || known.ending) showMoved(client, operationKey, own, isLost ? owned : stored, known);
    }
}

/** Keeps what calls of the guest have sent and are still waiting for: each leaves its operation open. */
function keepUnderWay(client: Client, guest: Namespace): void {
  for (const [operationKey, { ended, seen }] of client.registry.flights) {
    const { record } = seen;
    if (!ended && record?.state === 'pending' && record.ambiguous && isOperationOf(client, guest, operationKey))
      keepLastKnown({ client, operationKey, name: decodeName(record.label) }, record, record.lease);
  }
}

/**
 * Drops what this page knows of a guest's operation that is the user's now: the next `move` must not bring it again, because by then the user's
 * operation may have ended. A call of the guest that is under way would keep it once more at its end.
 */
function dropOpen({ registry: { lastKnown, flights } }: Client, operationKey: OperationKey): void {
  lastKnown.delete(operationKey);
  void flights.get(operationKey)?.landed.then(() => lastKnown.get(operationKey)?.ending || lastKnown.delete(operationKey));
}
