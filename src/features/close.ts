/** Closes a client, and those that were extended from it. */
import type { Client } from '../engine/client.js';
import { familyOf } from '../engine/extensions.js';
import { clientOf, type Once } from '../once.js';

/**
 * Closes a client and all clients that were extended from it. No new attempts begin, and waits end; attempts under way may finish
 * within `limits.attemptMs`. Then each of these clients closes the store that it was given.
 *
 * @example
 * process.on('SIGTERM', () => void close(once));
 */
export const close = (once: Once): Promise<void> => closeClient(clientOf(once, 'close'));

async function closeClient(client: Client): Promise<void> {
  const family = familyOf(client);
  for (const { closing } of family) closing.abort();
  const calls = () => [...client.registry.flights.values()].filter((flight) => family.includes(flight.client as Client)).map(({ landed }) => landed);
  // Repeat this, because a listener that hears of an end may start something else, such as `settle`.
  for (let left = calls(); left.length; left = calls()) await Promise.all(left);
  await Promise.all(family.map(({ settings, borrowsStore }) => !borrowsStore && settings.store?.close()));
}
