/**
 * The server's clock: the time that it last told, plus what has passed since then by this machine's monotonic clock. Until it has told
 * its time, this machine's is used.
 */
export class ServerClock {
  #heard = Date.now();
  #at = performance.now();
  /** What {@link now} last returned: the time that a change is given, and that the server is asked to confirm. */
  said = 0;

  readonly now = (): number => {
    this.said = Math.round(this.#heard + performance.now() - this.#at);
    return this.said;
  };

  hear(now: number): void {
    this.#heard = now;
    this.#at = performance.now();
  }
}
