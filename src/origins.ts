/** The `origins` option: a list that is compared with the origins of requests, so that each entry must be one. */
import { typeOf } from './core/name.js';
import type { OnceOptions } from './option-types.js';
import type { Platform } from './ports.js';
import { wrong } from './texts/full.js';

/** Scheme, host and port. A slash at the end says no more; a path, a wildcard or a missing scheme would match nothing. */
const FORM = /^https?:\/\/[^/?#*@\s\\]+\/?$/i;

/** The list as the platform writes origins: in lower case, without a default port or a slash at the end. Throws on anything else. */
export function checkOrigins(origins: OnceOptions['origins'], { resolve }: Platform): OnceOptions['origins'] {
  if (!Array.isArray(origins)) return origins;
  return origins.map((given: unknown, at) => {
    if (typeof given !== 'string') throw new TypeError(`once: origins[${at}] must be a string, got ${typeOf(given)}`);
    try {
      if (FORM.test(given)) return resolve(given).origin;
    } catch {
      // No URL, though it looked like one.
    }
    throw new RangeError(wrong(`origins[${at}]`, 'origin', JSON.stringify(given)));
  });
}
