/** A clock for apps that are put to sleep. */
import type { Connectivity, DeviceClock } from '../../ports.js';
import { systemClock } from '../shared.js';

/**
 * Timers stand still while the app is in the background, on some devices with their clock. Whenever `connectivity` wakes,
 * each one is held against the wall clock: what is due fires at once, and the others are set anew.
 */
export function wakefulClock(connectivity: Connectivity): DeviceClock {
  const looks = new Set<() => void>();
  let unsubscribe: (() => void) | undefined;
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
        unsubscribe?.();
        unsubscribe = undefined;
      };
      const end = (): void => {
        cancel();
        fire();
      };
      const again = (): void => {
        const left = due - Date.now();
        clearTimeout(id);
        // Where the clock was set back, the wait is no longer than it was.
        if (left > 0) id = setTimeout(end, Math.min(left, ms));
        else end();
      };
      let id = setTimeout(end, ms);
      looks.add(again);
      unsubscribe ??= connectivity.subscribe(look);
      return cancel;
    },
  };
}
