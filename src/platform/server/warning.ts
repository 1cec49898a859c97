/** Warns developers that a server forgets its keys. */
import type { Store } from '../../ports.js';

let warned = false;

/** A store over `memory` that warns when it stores its first operation; not earlier, because builds and server renders may make clients without calls. */
export const warning =
  (warn: (message: string, code: string) => void) =>
  (memory: Store): Store => ({
    ...memory,
    update: (id, change, options) =>
      memory.update(
        id,
        (current, now) => {
          const changed = change(current, now);
          if (changed.next && !warned) {
            warned = true;
            warn('keys are forgotten when this process ends; give createOnce a store', 'ONCEFETCH_MEMORY');
          }
          return changed;
        },
        options,
      ),
  });
