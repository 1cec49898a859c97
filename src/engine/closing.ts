/** The end of a client, for everything that waits. */

/** What cuts a wait: an AbortSignal, or a client that is closed. */
export interface Stop {
  readonly aborted: boolean;
  addEventListener(type: 'abort', end: () => void): void;
  removeEventListener(type: 'abort', end: () => void): void;
}

/** As an AbortSignal is, which some runtimes let nobody make outside of a request: where a module makes its client. */
export class Closing implements Stop {
  aborted = false;
  readonly #ends = new Set<() => void>();

  addEventListener(_: 'abort', end: () => void): void {
    this.#ends.add(end);
  }

  removeEventListener(_: 'abort', end: () => void): void {
    this.#ends.delete(end);
  }

  abort(): void {
    this.aborted = true;
    for (const end of [...this.#ends]) end();
  }
}
