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
  const own = [...client.registry.flights.values()].filter((flight) => flight.owner === client);
  await Promise.all([...(client.extensions?.living ?? []).map(closeClient), ...own.map((flight) => flight.landed)]);
  if (client.ownsStore) await client.store.close();
}
