/** Whether the device's clock was set. */
import type { DeviceClock } from '../ports.js';

/** Two clocks that nobody sets may drift apart by this much, ms. */
const DRIFT_MS_MAX = 1000;

const since = new WeakMap<DeviceClock, { readonly wall: number; readonly at: number }>();

/**
 * For how long this realm has seen nobody set the wall clock, ms: that much time has passed in any case. 0 at the first look, and
 * after a jump or a sleep.
 */
export function evenForMs(clock: DeviceClock): number {
  const wall = clock.now();
  const at = clock.monotonic();
  const first = since.get(clock);
  if (first && Math.abs(wall - first.wall - (at - first.at)) < DRIFT_MS_MAX) return at - first.at;
  since.set(clock, { wall, at });
  return 0;
}
