/** The device says that it is offline. That is a hint: it ends a call early, so that the user hears of it within seconds. */
import type { OperationRun } from './client.js';

export class Outage {
  readonly #job: Pick<OperationRun, 'client' | 'settings' | 'deadline'>;
  /** When this call first saw the device offline; `undefined` while it is online. */
  #since: number | undefined;

  constructor(job: Pick<OperationRun, 'client' | 'settings' | 'deadline'>) {
    this.#job = job;
  }

  /** Waits for the network until `limits.offlineWaitMs` after the outage was first seen; `true` if the device is still offline then. */
  async outlasts(pause: (ms: number) => Promise<void>): Promise<boolean> {
    const { client, settings, deadline } = this.#job;
    const { clock, connectivity } = client.platform;
    const since = this.#since ?? clock.now();
    const { offlineWaitMs } = settings.limits;
    const end = since + offlineWaitMs;
    // A clock that was set back by hours would have the call wait for as long.
    const ms = Math.min(offlineWaitMs, Math.min(end, deadline) - clock.now());
    if (connectivity.online() === false && ms > 0) await pause(ms);
    // An outage that has ended no longer counts, and the next one gets the full time.
    this.#since = connectivity.online() === false ? since : undefined;
    return this.#since !== undefined && clock.now() >= end;
  }
}
