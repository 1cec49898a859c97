/** Ends a client, and those that were extended from it. */
import type { Client } from '../engine/client.js';
import { clientOf, type Once } from '../once.js';

/**
 * Ends a client: no new attempts, waits are cut, attempts under way may end within `limits.attemptMs`. The same for clients that
 * were extended from this one. Then the store is closed by the client that it was given to.
 *
 * @example
 * process.on('SIGTERM', () => void close(once));
 */
export const close = (once: Once): Promise<void> => closeClient(clientOf(once, 'close'));

async function closeClient(client: Client): Promise<void> {
  client.closing.abort();
  const own = () => [...client.registry.flights.values()].filter((flight) => flight.owner === client).map((flight) => flight.landed);
  // Again and again, because a listener that hears of an end may settle the operation there and then.
  for (let ends = [...own(), ...(client.extensions?.living ?? []).map(closeClient)]; ends.length; ends = own()) await Promise.all(ends);
  if (client.ownsStore) await client.store.close();
}
