/** What a client remembers between its calls. Types only. */

/** What a client has seen of its `namespace`. */
export interface Session {
  /** The user that the option gave last. When it changes, screens look again. */
  seen?: unknown;
  /** How often the user has changed. */
  changes: number;
}

/** What a client knows of its sweeps. */
export interface Sweeps {
  /** Settles to go until the next sweep. `place`: after which settle of its round the last sweep came. */
  left: number;
  place: number;
  /** When a sweep last found fewer records than it would have removed; wall clock, ms. */
  restedAt: number;
  /** Damaged records that the last sweep met. */
  damaged: number;
}
