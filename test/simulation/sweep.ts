/** One run of `resume(once)` through all that is pending, a few at a time; or of `resumeInBackground(once)` through what was agreed to. */
import { type Resumed, resume, resumeInBackground, subscribe } from '../../src/entries/index.js';
import type { Context } from './context.js';
import type { Call, OpFacts } from './facts.js';

export interface Sweeping {
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  /** After so many it wants no more. */
  readonly takes: number;
  readonly inBackground?: boolean;
}

export class Sweep {
  /** What it drives, or has driven, as far as the outside can see. */
  readonly calls = new Map<OpFacts, Call>();
  /** More at a time than it was allowed. */
  most = 0;
  readonly #begin: (op: OpFacts) => Call;

  constructor(begin: (op: OpFacts) => Call) {
    this.#begin = begin;
  }

  /** The call that an attempt belongs to which nobody else in this context wants. */
  callFor(op: OpFacts): Call {
    const known = this.calls.get(op);
    if (known && !known.told) return known;
    const call = this.#begin(op);
    this.calls.set(op, call);
    this.most = Math.max(this.most, this.open().length);
    return call;
  }

  /** Begun, as far as the wire shows, and not heard of again. */
  open(): Call[] {
    return [...this.calls.values()].filter((call) => !call.told);
  }

  /** Whether it came to the end of the list. */
  async run(context: Context, { concurrency, signal, takes, inBackground }: Sweeping, heard: (one: Resumed) => void): Promise<boolean> {
    if (inBackground) {
      // Each word is told when it falls; the promise has none.
      const stop = subscribe(context.once, (event) => {
        const driven = [...this.calls].some(([op, call]) => !call.told && op.keys.has(event.key));
        if ('outcome' in event && driven) heard({ name: event.operation ?? [], outcome: event.outcome, response: undefined });
      });
      await resumeInBackground(context.once, { signal }).finally(stop);
      return false;
    }
    let taken = 0;
    for await (const one of resume(context.once, { concurrency, ...(signal ? { signal } : {}) })) {
      heard(one);
      if (++taken === takes) return false;
    }
    return true;
  }
}
