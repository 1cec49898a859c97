/** Checks the option `origins`: its entries are compared with the origins of requests, so each must be an origin. */
import { typeOf } from './core/name.js';
import type { OnceOptions } from './option-types.js';
import type { Platform } from './ports.js';
import { wrong } from './texts/full.js';

/** Scheme, host and port, with or without a slash at the end. A path, a wildcard or a missing scheme is refused, because it would match nothing. */
const FORM = /^https?:\/\/[^/?#*@\s\\]+\/?$/i;

/** The list as the platform writes origins: in lower case, without a default port or a slash at the end. Throws if an entry is not an origin. */
export function checkOrigins(origins: OnceOptions['origins'], { resolve }: Platform): OnceOptions['origins'] {
  if (!Array.isArray(origins)) return origins;
  return origins.map((given: unknown, at) => {
    if (typeof given !== 'string') throw new TypeError(`once: origins[${at}] must be a string, got ${typeOf(given)}`);
    try {
      if (FORM.test(given)) return resolve(given).origin;
    } catch {
      // It looked like an origin, but is not a valid URL.
    }
    throw new RangeError(wrong(`origins[${at}]`, 'origin', JSON.stringify(given)));
  });
}
