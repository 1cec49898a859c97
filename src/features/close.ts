/** Ends a client, and those that were extended from it. */
import type { Client } from '../engine/client.js';
import { familyOf } from '../engine/family.js';
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
  const family = familyOf(client);
  for (const { closing } of family) closing.abort();
  const calls = () => [...client.registry.flights.values()].filter(({ owner }) => family.includes(owner as Client)).map(({ landed }) => landed);
  // Again and again, because a listener that hears of an end may settle the operation there and then.
  for (let left = calls(); left.length; left = calls()) await Promise.all(left);
  await Promise.all(family.map(({ ownsStore, store }) => ownsStore && store.close()));
}
