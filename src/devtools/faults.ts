/** Faults of the network that a developer turns on for the requests of this page's client. */
import type { Client } from '../engine/client.js';

/** `lose-answer` is for the next request only. */
export type FaultName = 'lose-answer' | 'offline' | 'slow';

/** How much longer a slow request takes, ms. */
export const SLOW_MS = 3000;

/** Resolves after `ms`, or rejects as fetch does when it is aborted. */
const pause = (ms: number, signal: AbortSignal | null | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

export class Faults {
  readonly on = new Set<FaultName>();
  /** Called when the device "comes online". */
  readonly wakes = new Set<() => void>();

  set(name: FaultName, on: boolean): void {
    if (on) this.on.add(name);
    else this.on.delete(name);
    if (name === 'offline' && !on) for (const wake of [...this.wakes]) wake();
  }

  /** Turns all of them off. */
  clear(): void {
    for (const name of [...this.on]) this.set(name, false);
  }

  /** Sends a request with the faults that are on. `met` is called with each of them. */
  async send(send: () => Promise<Response>, signal: AbortSignal | null | undefined, met: (fault: FaultName) => void): Promise<Response> {
    if (this.on.has('offline')) {
      met('offline');
      throw new TypeError('oncefetch/devtools: the panel plays offline, so nothing was sent');
    }
    const loses = this.on.delete('lose-answer');
    if (loses) met('lose-answer');
    if (this.on.has('slow')) {
      met('slow');
      await pause(SLOW_MS, signal);
    }
    const response = await send();
    if (!loses) return response;
    // The server has done its work, but its answer is thrown away.
    await response.body?.cancel();
    throw new TypeError('oncefetch/devtools: the panel lost the answer');
  }

  /** The client's `connectivity`, which says "offline" while that fault is on. */
  connectivity(real: Client['platform']['connectivity']): Client['platform']['connectivity'] {
    return {
      online: () => (this.on.has('offline') ? false : real.online()),
      subscribe: (wake) => {
        const off = real.subscribe(wake);
        const entry = (): void => wake();
        this.wakes.add(entry);
        return () => {
          off();
          this.wakes.delete(entry);
        };
      },
    };
  }
}
