/** Tells everything that waits that its client or call has ended. */

/** What ends a wait early: an AbortSignal, a client that is closed, or a call that nobody waits for any more. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', end: () => void): void;
  removeEventListener(type: 'abort', end: () => void): void;
}

/**
 * Stands in for an AbortController, for two reasons: some runtimes do not allow code outside of a request to make one, and a module makes
 * its client there; and making one for each call is slow.
 */
export class StopSource implements StopSignal {
  aborted = false;
  reason: unknown;
  /** How many callers still read a body that arrives after the call has ended. */
  readers = 0;
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
    // If one callback throws, the others are called all the same, as with an AbortSignal.
    for (const end of [...this.#ends]) void (async () => end())();
  }
}
