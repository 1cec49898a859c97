/** What a client remembers between its calls. Types only. */

/** What a client has seen of its `namespace`. */
export interface Session {
  /** The last user; screens are told to look again when it changes. */
  seen: unknown;
  /** How often the user has changed. */
  changes: number;
}

/** What a client knows of its sweeps. */
export interface Sweeps {
  /** Settles to go until the next sweep. `place`: after which settle of its round of `sweepEvery` the last sweep came. */
  left: number;
  place: number;
  /** Wall clock, ms: when a sweep last found less than it would have removed. */
  restedAt: number;
  /** Damaged records that the last sweep met. */
  damaged: number;
}
