/** Where the time of a call goes, measured at its lock, its store and its transport. */
import type { Store } from 'oncefetch';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Records the stages of one call after another. Drops those of the warm-up. */
export class Stages {
  readonly #fetch: Fetch;
  readonly #calls: Map<string, number>[] = [];
  #marks = new Map<string, number>();
  #from = 0;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** Ends a stage that began when the previous one ended. */
  mark(stage: string): void {
    const now = performance.now();
    this.#marks.set(stage, (now - this.#from) * 1000);
    this.#from = now;
  }

  readonly fetch: Fetch = (...request) => {
    this.mark('to the transport');
    return this.#fetch(...request);
  };

  /** Wraps a store, so that its updates end stages. */
  store(store: Store): Store {
    const update: Store['update'] = async (...args) => {
      const first = !this.#marks.has('the first commit');
      this.mark(first ? 'to the first commit' : 'the answer, read and judged');
      try {
        return await store.update(...args);
      } finally {
        this.mark(first ? 'the first commit' : 'the second commit');
      }
    };
    return { ...store, update };
  }

  async of(call: () => Promise<unknown>): Promise<void> {
    this.#marks = new Map();
    this.#from = performance.now();
    await call();
    this.mark('to the caller, and its own reading');
    this.#calls.push(this.#marks);
  }

  /** The stages of the second half of the calls, µs, in order. */
  seen(): Record<string, number[]> {
    const calls = this.#calls.slice(this.#calls.length / 2);
    return Object.fromEntries([...(calls[0] ?? new Map()).keys()].map((stage) => [stage, calls.map((marks) => marks.get(stage) ?? Number.NaN)]));
  }
}
