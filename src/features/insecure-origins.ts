/** Replacements for Web Crypto and Web Locks, which pages on `http://` do not have. */

import { sha256 } from '@noble/hashes/sha2.js';
import { v4 } from 'uuid';
import { refuseArguments } from '../arguments.js';
import { derived } from '../core/derived.js';
import { keyOf } from '../engine/claim.js';
import type { OperationRun, Parts } from '../engine/client.js';
import { beginWithKeys } from '../engine/derived-keys.js';
import { nameOrNone } from '../engine/observe.js';
import type { Feature } from '../option-types.js';
import type { Platform } from '../ports.js';

/**
 * Lets a page on `http://` make calls, although it has no Web Crypto and no Web Locks. Libraries compute digests and make keys. If the store
 * is localStorage, keys are derived from operation names, so that tabs that begin at the same time use the same key. Not needed on `localhost`.
 *
 * @example
 * const once = createOnce({ use: [insecureOrigins()] });
 */
export const insecureOrigins: () => Feature = (...given: unknown[]) => {
  refuseArguments('insecureOrigins', given);
  return { parts: { platform, derive: beginDerivedKey } satisfies Partial<Parts> };
};

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

function beginDerivedKey(job: OperationRun): ReturnType<Parts['derive']> {
  const { namespace, name } = job;
  return beginWithKeys(
    job,
    (generation) => keyOf(job.settings.dialect, derived({ namespace, operation: nameOrNone(name), generation }), job.settings.dialect.shape),
    true,
  );
}

const platform = (lacking: Platform): Platform => ({
  ...lacking,
  digest: (data) => (globalThis.crypto?.subtle ? lacking.digest(data) : hexOf(sha256(typeof data === 'string' ? new TextEncoder().encode(data) : data))),
  randomness: {
    ...lacking.randomness,
    uuid() {
      const { crypto } = globalThis as { crypto?: Partial<Crypto> };
      // Such a page is sure to have only `getRandomValues`. A polyfill may have added `randomUUID` without the rest of Web Crypto, or the rest without it.
      return crypto?.getRandomValues && !(crypto.subtle && crypto.randomUUID) ? v4() : lacking.randomness.uuid();
    },
  },
});
