/** How the value of a function given to `run` is stored. */
import type { StoredAnswer } from '../core/record.js';

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
