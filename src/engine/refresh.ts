/** Reads the state of one operation for its screens. */

import { idsOf } from './address.js';
import type { Client, OperationAddress } from './client.js';
import { publish, stateOf } from './observe.js';
import { readStored, storedIn, storeForOperation } from './record-access.js';

/** Shows on screens what is stored. */
export async function refresh(client: Client, address: OperationAddress): Promise<void> {
  const { id } = await idsOf(client, address);
  const state = stateOf(await readStored(client, address.operationKey, id), storedIn(storeForOperation(client, address.operationKey)));
  if (!client.registry.flights.has(address.operationKey)) publish(client, address.operationKey, state);
}
