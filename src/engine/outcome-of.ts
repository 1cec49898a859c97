/** Finds the outcome of an operation from whatever object the caller got. */
import type { Outcome } from '../core/outcome.js';
import { isOnceError } from '../errors.js';
import { registry } from './registry.js';

/** How many levels of nested objects are searched. */
const DEPTH_MAX = 4;
/** Where HTTP clients put our error or our Response in their own errors and responses. */
const CARRIERS = ['request', 'response', 'cause', 'detail', 'networkError', 'originalError', 'meta', 'context', 'error'] as const;

/** @deprecated A promise has no outcome: await the call first. */
export function outcomeOf<T extends PromiseLike<unknown>>(of: 0 extends T & 1 ? never : T): undefined;
/**
 * The outcome of an operation, found by a Response, a Request, an `OnceError`, an abort reason, or the error or response of an HTTP
 * client that contains one of these. `undefined` for a call that oncefetch had nothing to do with.
 *
 * @example
 * if (outcomeOf(error)?.effect === 'unknown') showUnsure();
 */
export function outcomeOf(of: unknown): Outcome | undefined;
export function outcomeOf(of: unknown): Outcome | undefined {
  let level: unknown[] = [of];
  for (let depth = 0; depth <= DEPTH_MAX && level.length; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      if ((typeof one !== 'object' && typeof one !== 'function') || one === null) continue;
      const found = registry().outcomes.get(one) ?? (isOnceError(one) ? one.outcome : undefined);
      if (found) return found;
      for (const name of CARRIERS) next.push(peek(one, name));
    }
    level = next;
  }
  return undefined;
}

/** Reads a member. A getter of a foreign object may throw. */
function peek(of: object, name: string): unknown {
  try {
    return (of as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}
