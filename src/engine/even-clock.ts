/** Tells for how long nobody has set the device's clock. */
import type { DeviceClock } from '../ports.js';

/** By how much the wall clock and the monotonic one may differ although nobody has set them, ms. */
const DRIFT_MS_MAX = 1000;

const since = new WeakMap<DeviceClock, { readonly wall: number; readonly at: number }>();

/**
 * For how long the wall clock has run evenly, as far as this realm has seen, ms: at least that much time has really passed. 0 at the
 * first call, and after the clock jumped or the device slept.
 */
export function steadyForMs(clock: DeviceClock): number {
  const wall = clock.now();
  const at = clock.monotonic();
  const first = since.get(clock);
  if (first && Math.abs(wall - first.wall - (at - first.at)) < DRIFT_MS_MAX) return at - first.at;
  since.set(clock, { wall, at });
  return 0;
}
