/** The store of a client that was given none. */
import type { Platform, Store } from './ports.js';
import { firstAvailable } from './stores/browser/automatic.js';
import { indexedDbStore } from './stores/browser/indexeddb.js';
import { localStorageStore } from './stores/browser/local-storage.js';
import { defaultMemoryStore } from './stores/memory.js';

let browser: Store | undefined;
let warned = false;

/** In a page IndexedDB, else localStorage, else memory: one for all clients, so that they share its connection. In Node memory. */
export function defaultStore(platform: Platform): Store {
  if (!platform.server) {
    browser ??= firstAvailable([indexedDbStore(), localStorageStore(), defaultMemoryStore()]);
    return browser;
  }
  return warning(platform, defaultMemoryStore());
}

/** Warns when it stores its first operation. A client that a build or a server render only makes stores none. */
function warning(platform: Platform, memory: Store): Store {
  const update: Store['update'] = (id, change, options) =>
    memory.update(
      id,
      (current, now) => {
        const changed = change(current, now);
        if (changed.next && !warned) {
          warned = true;
          platform.warn?.('keys are forgotten when this process ends; give createOnce a store', 'ONCEFETCH_MEMORY');
        }
        return changed;
      },
      options,
    );
  return { ...memory, update };
}
