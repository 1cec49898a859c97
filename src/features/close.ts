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
  for (const one of family) one.closing.abort();
  // A sweep under way ends first, so that the app can end its pool: `pg` never answers what waits in it then.
  let left: readonly unknown[] = family.map((one) => one.borrowsStore || one.sweeps.landed);
  // Repeat this, because a listener that hears of an end may start something else, such as `settle`.
  while (left.length) {
    await Promise.all(left);
    left = [...client.registry.flights.values()].filter((one) => family.includes(one.owner as Client)).map((one) => one.landed);
  }
  await Promise.all(family.map((one) => one.borrowsStore || one.settings.store?.close()));
}
