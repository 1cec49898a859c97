/** Results of functions given to `run` that are no Response. */

import type { StoredAnswer } from '../core/record.js';
import type { Result } from './result.js';

/** `stored`: see {@link Result.stored}. */
export const valueResult = (value: unknown, stored: () => StoredAnswer | undefined): Result => ({
  value,
  response: undefined,
  ok: true,
  lasting: true,
  copy: () => value,
  stored,
});

/**
 * The value as JSON; `undefined` if JSON can't hold it. Then no value is stored, and a later call is told that the work is done: better
 * than `{}` for a Map.
 */
export function storedValue(value: unknown): StoredAnswer | undefined {
  try {
    const json = JSON.stringify(value, kept);
    return json || value === undefined ? { json } : undefined;
  } catch {
    return undefined;
  }
}

/** What JSON writes as it is. */
const PLAIN = [Object, Array, undefined] as unknown[];

/** Throws on bytes, and on an instance none of whose members JSON sees, such as a Map, a stream, an Error. */
function kept(_: string, part: unknown): unknown {
  if (typeof part === 'object' && part && !PLAIN.includes(part.constructor) && (ArrayBuffer.isView(part) || !Object.keys(part).length)) throw part;
  return part;
}
