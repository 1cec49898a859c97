/** The end of a client, and of those that were made from it. */
import type { Client } from './client.js';

/** How many are looked through for those that are gone, at least. */
const LOOK_AT_MIN = 64;

/** Clients made by `extend`. Held weakly: a server may make one for each request, and forget it. */
export class Extensions {
  readonly #clients = new Set<WeakRef<Client>>();
  #lookAt = LOOK_AT_MIN;

  add(client: Client): void {
    this.#clients.add(new WeakRef(client));
    if (this.#clients.size < this.#lookAt) return;
    for (const ref of this.#clients) if (!ref.deref()) this.#clients.delete(ref);
    this.#lookAt = Math.max(LOOK_AT_MIN, this.#clients.size * 2);
  }

  get living(): Client[] {
    return [...this.#clients].flatMap((ref) => ref.deref() ?? []);
  }
}

/**
 * No new attempt and no wait from here on, also of the clients that were extended from this one, because they work in its store.
 * The store is closed when all their attempts have ended, and only by the client that it was given to.
 */
export async function closeClient(client: Client): Promise<void> {
  client.closing.abort();
  const own = [...client.registry.flights.values()].filter((flight) => flight.owner === client);
  await Promise.all([...client.extensions.living.map(closeClient), ...own.map((flight) => flight.landed)]);
  if (client.ownsStore) await client.store.close();
}
