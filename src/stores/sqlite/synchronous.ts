/** Refuses databases whose statements give promises or take callbacks, such as those of the package `sqlite3`, or D1. */
import { StoreFault } from '../fault.js';

/** @param asks - the statement `SELECT 1 AS one`, or what the database gave instead of a statement */
export function refuseAsynchronous(scope: string, asks: { get?(): unknown }): void {
  const { one } = Object(asks.get?.()) as { one?: unknown };
  if (Number(one) === 1) return;
  throw new StoreFault(
    'denied',
    `the statements of the database of ${scope} do not give their rows at once: hand in a DatabaseSync of node:sqlite, or a Database of better-sqlite3`,
  );
}
