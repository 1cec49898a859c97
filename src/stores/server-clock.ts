/** The server's clock as last heard, told on by this machine's monotonic one. Until it was heard, this machine's is guessed. */
export class ServerClock {
  #heard = Date.now();
  #at = performance.now();
  /** What {@link now} said last: the time that a change is told, and that the server is asked to confirm. */
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
