/** A clock for apps that the system may suspend. */
import type { Connectivity, DeviceClock } from '../../ports.js';
import { systemClock } from '../shared.js';

/**
 * Calls `look` whenever `connectivity` wakes. If the app's own `connectivity` throws, the engine reports that, and timers do without it. The
 * result unsubscribes, and returns `false` if that failed, for example because `subscribe` of the app's returned no function.
 */
function subscribed(connectivity: Connectivity, look: () => void): () => boolean {
  let off: (() => void) | undefined;
  try {
    off = connectivity.subscribe(look);
  } catch {
    return () => true;
  }
  return () => {
    try {
      off?.();
      return typeof off === 'function';
    } catch {
      return false;
    }
  };
}

/**
 * While the app is in the background, timers stand still, and on some devices the clock they run by does too. So whenever
 * `connectivity` wakes, each timer is compared with the wall clock: those that are due fire at once, and the others are set again.
 */
export function wakefulClock(connectivity: Connectivity): DeviceClock {
  const looks = new Set<() => void>();
  let unsubscribe: (() => boolean) | undefined;
  const look = (): void => {
    for (const one of [...looks]) one();
  };
  return {
    ...systemClock,
    timer(ms, fire) {
      const due = Date.now() + ms;
      const cancel = (): void => {
        clearTimeout(id);
        looks.delete(again);
        if (looks.size > 0) return;
        // If unsubscribing fails, `connectivity` goes on calling `look`, so do not subscribe a second time.
        if (unsubscribe?.()) unsubscribe = undefined;
      };
      const end = (): void => {
        cancel();
        fire();
      };
      const again = (): void => {
        // A timer that was due before it in the same look may have cancelled it.
        if (!looks.has(again)) return;
        const left = due - Date.now();
        clearTimeout(id);
        // `Math.min`: if the clock was set back, the wait must not become longer than it was at first.
        if (left > 0) id = setTimeout(end, Math.min(left, ms));
        else end();
      };
      let id = setTimeout(end, ms);
      looks.add(again);
      unsubscribe ??= subscribed(connectivity, look);
      return cancel;
    },
  };
}
