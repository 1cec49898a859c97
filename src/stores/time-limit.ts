/** The longest time that a call waits for its store, ms: `storeTimeoutMs` of `src/options.ts`. */
export const STORE_MS_MAX = 10_000;

/** Checks a store's option for how long it may wait. No longer than a call waits: later nobody would hear of the result. */
export function timeLimit(option: string, ms: number): number {
  if (ms >= 0 && ms <= STORE_MS_MAX) return ms;
  throw new RangeError(`once: ${option} must be from 0 to ${STORE_MS_MAX} (ms), because no call waits longer for its store; got ${ms}`);
}
