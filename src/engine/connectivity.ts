/** Whether the device is online, as the app's own `connectivity` or the platform says. */
import type { Connectivity, Platform } from '../ports.js';
import { guarded } from './observe.js';

/** The app's `connectivity`, or the platform's. If the app's throws, that is reported, and no call fails or hangs because of it. */
export const connectivityOf = (platform: Platform, own: Connectivity | undefined): Connectivity =>
  own
    ? {
        online: () => guarded({ platform }, () => own.online()),
        subscribe: (wake) => {
          const unsubscribe = guarded({ platform }, () => own.subscribe(wake)) as () => void;
          // If `subscribe` returned no function, that is reported, too: each wait would leave a listener behind.
          return () => void guarded({ platform }, unsubscribe);
        },
      }
    : platform.connectivity;
