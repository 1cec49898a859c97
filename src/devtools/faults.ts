/** Faults that a developer asks for: what the network may do, done to the requests of this page's client. */
import type { Client } from '../engine/client.js';

/** `lose-answer`: of the next request only. */
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

  /** Sends a request through the faults; `met` is told of each that it meets. */
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
    // The server has done its work; what it says of it goes nowhere.
    await response.body?.cancel();
    throw new TypeError('oncefetch/devtools: the panel lost the answer');
  }

  /** The device as the client sees it: offline while that is asked for. */
  connectivity(real: Client['platform']['connectivity']): Client['platform']['connectivity'] {
    return {
      kind: real.kind,
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
