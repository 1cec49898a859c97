/** Pages on `http://`: what Web Crypto and Web Locks would do there. */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { v4 } from 'uuid';
import { derived } from '../core/derived.js';
import type { Parts } from '../engine/client.js';
import type { Feature } from '../option-types.js';
import type { Platform } from '../ports.js';

/**
 * Lets a page on `http://` send, where there is no Web Crypto and no Web Lock: libraries compute digests and make keys, and where the store is
 * localStorage, tabs that begin at once arrive at one key, because it is derived from the operation's name. `localhost` needs none of it.
 *
 * @example
 * const once = createOnce({ use: [insecureOrigins()] });
 */
export const insecureOrigins = (): Feature => ({ name: 'insecureOrigins', parts: { platform, derive: derived } satisfies Partial<Parts> });

const platform = (lacking: Platform): Platform => ({
  ...lacking,
  digest: (data) => (globalThis.crypto?.subtle ? lacking.digest(data) : bytesToHex(sha256(typeof data === 'string' ? utf8ToBytes(data) : data))),
  randomness: {
    ...lacking.randomness,
    uuid() {
      const { crypto } = globalThis as { crypto?: Partial<Crypto> };
      // A polyfill may have brought `randomUUID` to where there is no Web Crypto, or not all of it.
      return crypto?.getRandomValues && !(crypto.subtle && crypto.randomUUID) ? v4() : lacking.randomness.uuid();
    },
  },
});
