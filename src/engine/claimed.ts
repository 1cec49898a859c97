/** Claims one operation for a change that the app asks for, and refuses what would contradict the record. */
import type { Ending } from '../core/outcome.js';
import type { OnceRecord } from '../core/record.js';
import { OnceError } from '../errors.js';
import { busyError, noFacts, tryLock } from './claim.js';
import type { Client, Place } from './client.js';
import { Flight } from './flight.js';
import { changed, rememberedOutcome } from './observe.js';
import { freeFromTheGone } from './owner.js';
import { idsOf } from './place.js';
import { storedIn, storeOf } from './storing.js';

/** Takes the claim of a name for one change; rejects with ERR_ONCE_BUSY while a live driver holds it. */
export async function claimed<T>(client: Client, place: Place, work: (id: string, ns: string) => Promise<T>): Promise<T> {
  if (client.registry.flights.has(place.slot)) throw busyError({ client, ...place });
  // Held in this realm from this very tick, so that a click waits until the change is made.
  const hold = new Flight(client.registry, place.slot, client);
  hold.fingerprinted(undefined);
  try {
    const release = await tryLock(client, place);
    if (!release) throw busyError({ client, ...place });
    const { id, ns } = await idsOf(client, place);
    await freeFromTheGone(client, place.slot, id);
    return await work(id, ns).finally(release);
  } finally {
    hold.free();
    changed(client);
  }
}

/** Why the change contradicts what is stored. */
export function refusal(
  client: Client,
  place: Place,
  record: OnceRecord | undefined,
  code: 'ERR_ONCE_RECORD' | 'ERR_ONCE_UNKNOWN' | 'ERR_ONCE_ALREADY_SETTLED',
  ending: Ending,
): OnceError {
  const where = storedIn(storeOf(client, place.slot));
  const none = { ...noFacts({ client, ...place }, 'maybe'), ...ending };
  return new OnceError(code, record ? { ...rememberedOutcome(record, ending, where, false), sent: record.ambiguous ? 'maybe' : 'no' } : none);
}
