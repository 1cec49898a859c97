/** The member of a record that tells who drives its operation. Types only. */

/** Times are in ms, by the store's clock. */
export interface Lease {
  /** The driver's name, or who moved the record. */
  readonly owner: string;
  /** Until when the driver holds the record; it renews this. */
  readonly until: number;
  /** How long after that an attempt of this driver may be on its way. */
  readonly ms?: number | undefined;
  /** Until when an attempt of an earlier driver, which died or sleeps, may be on its way. */
  readonly earlier?: number | undefined;
  /**
   * The driver holds a lock, which its death releases. Then the lease keeps nobody out, and tells only until when an attempt may be on its way
   * if the driver has died.
   */
  readonly locked?: boolean | undefined;
  /** The driver brought no payload, as a `resume`. Where there are no locks, an equal call without a name learns from this that it is to wait. */
  readonly resumes?: boolean | undefined;
}
