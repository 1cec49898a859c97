/** What a client remembers between its calls. Types only. */

/** What a client has seen of its `namespace`. */
export interface Session {
  /** The last value; screens are told when it changes. */
  seen: unknown;
  /** How often it has changed. */
  changes: number;
}

/** What a client knows of its sweeps. */
export interface Sweeps {
  /** Settles that come before the next one, and which settle of its `sweepEvery` the last one came with. */
  left: number;
  place: number;
  /** Wall clock, ms: when a sweep last found less than it would have removed. */
  restedAt: number;
  /** Damaged records that the last sweep met. */
  damaged: number;
}
