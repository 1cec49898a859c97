/** A device that says that it is offline: a hint that cuts a call short, so that its user hears of it within seconds. */
import type { OperationRun } from './client.js';

export class Outage {
  readonly #job: Pick<OperationRun, 'client' | 'settings' | 'deadline'>;
  /** When this call first saw the device offline; `undefined` while it is online. */
  #since: number | undefined;

  constructor(job: Pick<OperationRun, 'client' | 'settings' | 'deadline'>) {
    this.#job = job;
  }

  /** Waits for the network until `limits.offlineWaitMs` after the outage was first seen; `true` when it is still away then. */
  async outlasts(pause: (ms: number) => Promise<void>): Promise<boolean> {
    const { client, settings, deadline } = this.#job;
    const { clock, connectivity } = client.platform;
    const end = (this.#since ?? clock.now()) + settings.limits.offlineWaitMs;
    const ms = Math.min(end, deadline) - clock.now();
    if (connectivity.online() === false && ms > 0) await pause(ms);
    // One that has ended meanwhile is over, and the next one is given its time anew.
    this.#since = connectivity.online() === false ? end - settings.limits.offlineWaitMs : undefined;
    return this.#since !== undefined && clock.now() >= end;
  }
}
