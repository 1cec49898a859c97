/** Makes room in the memory that holds records while the store takes none. */

import { isUnnamed } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { idOfUnnamed, idsOf, partsOf } from './address.js';
import type { Client } from './client.js';
import { returnToStore } from './record-access.js';
import { visit } from './sweep.js';

/** How many records are looked at each time. */
const LOOK_MAX = 1000;

/** Removes the records in that memory that are due to be forgotten. `true` if that made room. */
export async function makeRoom(client: Client): Promise<boolean> {
  const { degraded, flights } = client.registry;
  const memory = client.fallback();
  const before = client.platform.clock.now();
  const sizeBefore = degraded.size;
  const gone = new Map<string, OnceRecord>();
  for (const stored of (await memory.scan({ before, limit: LOOK_MAX })).records) {
    const scanned = readRecord(stored);
    if (scanned && (await visit(client, memory, scanned, before)) === 'removed') gone.set(isUnnamed(scanned.label) ? scanned.key : scanned.label, scanned);
  }
  for (const operationKey of gone.size ? [...degraded.keys()] : []) {
    const [, namespace, label, key] = partsOf(operationKey);
    const record = gone.get(key || label);
    if (!record) continue;
    // Two users may have operations of the same name, so `returnToStore` checks that it is this one's record that is gone.
    const id = key ? await idOfUnnamed(client, namespace, record) : (await idsOf(client, { namespace, label, id: undefined })).id;
    // Skip it if a call of that name is in flight, which may be about to store its record there.
    if (!flights.has(operationKey)) await returnToStore({ client, operationKey, id });
  }
  return degraded.size < sizeBefore;
}
