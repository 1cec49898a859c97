/** The client for services, where size hardly matters: it has every feature. */
import { withEverything } from './everything.js';
import { createOn, type Once } from './once.js';
import type { OnceOptions } from './option-types.js';
import { detectPlatform } from './platform/detect.js';

/**
 * `createOnce` of `oncefetch` with every feature in `use`.
 *
 * @throws TypeError or RangeError that names the wrong option
 * @example
 * import { createOnce } from 'oncefetch/node';
 * const once = createOnce({ store: sqliteStore({ path: 'once.db' }) });
 */
export function createOnce(options: OnceOptions = {}): Once {
  return createOn(detectPlatform(), withEverything(options));
}
