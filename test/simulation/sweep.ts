/** One run of `resume(once)` through all pending operations, a few at a time, or of `resumeInBackground(once)` through those with a consent. */
import { type Resumed, resume, resumeInBackground, subscribe } from '../../src/entries/index.js';
import type { Context } from './context.js';
import type { Call, OpFacts } from './facts.js';

export interface Sweeping {
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  /** After this many results the app stops listening. */
  readonly takes: number;
  readonly inBackground?: boolean;
}

export class Sweep {
  /** The calls of this run that its attempts on the wire have shown: under way, or ended. */
  readonly calls = new Map<OpFacts, Call>();
  /** The most operations that it drove at the same time. */
  most = 0;
  readonly #begin: (op: OpFacts) => Call;

  constructor(begin: (op: OpFacts) => Call) {
    this.#begin = begin;
  }

  /** The call of this run to which an attempt belongs that no other call of the context explains. */
  callFor(op: OpFacts): Call {
    const known = this.calls.get(op);
    if (known && !known.told) return known;
    const call = this.#begin(op);
    this.calls.set(op, call);
    this.most = Math.max(this.most, this.open().length);
    return call;
  }

  /** Calls of this run whose attempts were seen on the wire, and whose ends were not told yet. */
  open(): Call[] {
    return [...this.calls.values()].filter((call) => !call.told);
  }

  /** Resolves with whether it came to the end of the list. */
  async run(context: Context, { concurrency, signal, takes, inBackground }: Sweeping, heard: (one: Resumed) => void): Promise<boolean> {
    if (inBackground) {
      // Takes each outcome from its event, because the promise resolves with none.
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
