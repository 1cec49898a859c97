/** The world's time: the virtual clock of `oncefetch/testing`, which jumps from one event to the next. */
import { virtualClock } from '../../src/testing/virtual-clock.js';

/** Stops a world that never comes to rest. */
export class Runaway extends Error {}

export class Timeline {
  fired = 0;
  readonly #limit: number;
  /** Everything asynchronous in the world waits for a timer or a microtask, and Node runs every microtask before the next immediate. */
  readonly #clock = virtualClock({ start: 0, settle: () => new Promise((rested) => setImmediate(rested)) });

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True time, ms since the world began. */
  get now(): number {
    return this.#clock.now();
  }

  /** Returns a function that cancels the timer. */
  after(ms: number, fire: () => void): () => void {
    return this.#clock.timer(ms, () => {
      if (++this.fired > this.#limit) throw new Runaway(`no rest after ${this.#limit} events`);
      fire();
    });
  }

  /** Runs all events up to the time `until`. */
  async run(until: number): Promise<void> {
    if (until === Number.POSITIVE_INFINITY) await this.#clock.runAll(this.#limit);
    else await this.#clock.advanceTo(until);
  }
}
