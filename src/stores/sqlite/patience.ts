/**
 * Shortens how long the app's connection waits for a lock while the store uses it: the app may have set seconds, during which the whole
 * thread would be blocked.
 */

export interface Patience {
  /** From now on, waits no longer than `ms`. */
  lower(ms: number): void;
  /** Sets the app's own value again. */
  restore(): void;
}

/** @param asks - the statement `PRAGMA busy_timeout` */
export function patienceOf(database: { exec(sql: string): unknown }, asks: { get(): unknown }): Patience {
  let theirs: number | undefined;
  const set = (ms: number): unknown => database.exec(`PRAGMA busy_timeout = ${ms}`);
  return {
    lower(ms) {
      const now = Number((asks.get() as { timeout: number | bigint }).timeout);
      if (now <= ms) return;
      theirs = now;
      set(ms);
    },
    restore() {
      if (theirs !== undefined) set(theirs);
      theirs = undefined;
    },
  };
}
