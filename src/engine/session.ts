/** Who is here. Types only. */

/** What a client has seen of its `namespace`. */
export interface Session {
  /** The last value; screens are told when it changes. */
  seen: unknown;
  /** How often it has changed. */
  changes: number;
}
