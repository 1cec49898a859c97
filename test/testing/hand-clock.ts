import type { Clock } from '../../src/ports.js';

/** A clock that stands still until a test moves it. */
export class HandClock implements Clock {
  time = 1_000;
  #timers: { readonly at: number; readonly fire: () => void }[] = [];

  /** Timers set and not yet fired. */
  get waiting(): number {
    return this.#timers.length;
  }

  now(): number {
    return this.time;
  }

  timer(ms: number, fire: () => void): () => void {
    const timer = { at: this.time + ms, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Moves on, fires what is due, and lets its consequences happen. */
  async pass(ms: number): Promise<void> {
    this.time += ms;
    const due = this.#timers.filter(({ at }) => at <= this.time);
    this.#timers = this.#timers.filter(({ at }) => at > this.time);
    for (const { fire } of due) fire();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
