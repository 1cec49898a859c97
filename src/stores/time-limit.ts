/** No call waits longer for its store, ms; `storeTimeoutMs` of `src/options.ts`. */
export const STORE_MS_MAX = 10_000;

/** How long a store may wait: what it did later would be done for nobody. */
export function timeLimit(option: string, ms: number): number {
  if (typeof ms === 'number' && ms >= 0 && ms <= STORE_MS_MAX) return ms;
  throw new RangeError(`once: ${option} must be from 0 to ${STORE_MS_MAX} (ms), because no call waits longer for its store; got ${ms}`);
}
