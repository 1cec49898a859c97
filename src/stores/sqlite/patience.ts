/** How long a connection of somebody else's waits for a lock: its owner may have told SQLite to let the whole thread stand still for seconds. */

export interface Patience {
  /** No longer than `ms` from here on. */
  lower(ms: number): void;
  /** As its owner has it. */
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
