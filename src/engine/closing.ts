/** The end of a client or of a call, for everything that waits. */

/** What cuts a wait: an AbortSignal, a client that is closed, or a call that nobody waits for any more. */
export interface Stop {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', end: () => void): void;
  removeEventListener(type: 'abort', end: () => void): void;
}

/**
 * Like an AbortController, but some runtimes let nobody make one of those outside of a request, where a module makes its client;
 * and it takes long to make one for each call.
 */
export class Closing implements Stop {
  aborted = false;
  reason: unknown;
  readonly #ends = new Set<() => void>();

  addEventListener(_: 'abort', end: () => void): void {
    this.#ends.add(end);
  }

  removeEventListener(_: 'abort', end: () => void): void {
    this.#ends.delete(end);
  }

  abort(reason?: unknown): void {
    this.aborted = true;
    this.reason = reason;
    // What one of them throws keeps none of the others from ending, as with an AbortSignal.
    for (const end of [...this.#ends]) void (async () => end())();
  }
}
