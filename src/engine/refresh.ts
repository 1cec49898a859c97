/** Reads the state of one operation for its screens. */
import type { Client, Place } from './client.js';
import { publish, stateOf } from './observe.js';
import { idsOf } from './place.js';
import { readStored, storedIn, storeOf } from './storing.js';

/** Shows on screens what is stored. */
export async function refresh(client: Client, place: Place): Promise<void> {
  const { id } = await idsOf(client, place);
  const state = stateOf(await readStored(client, place.slot, id), storedIn(storeOf(client, place.slot)));
  if (!client.registry.flights.has(place.slot)) publish(client, place.slot, state);
}
