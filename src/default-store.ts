/** The store of a client that was given none. */
import type { Platform, Store } from './ports.js';
import { firstOf } from './stores/browser/automatic.js';
import { indexedDbStore } from './stores/browser/indexeddb.js';
import { defaultMemoryStore } from './stores/memory.js';

let browser: Store | undefined;

/** In a page: IndexedDB, or else memory, one store for all clients, so that they share its connection. On a server: memory. */
export function defaultStore({ server, forgets }: Platform): Store {
  const memory = defaultMemoryStore();
  if (server) return forgets?.(memory) ?? memory;
  browser ??= firstOf([indexedDbStore(), memory]);
  return browser;
}
