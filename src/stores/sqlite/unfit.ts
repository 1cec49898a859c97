/** Refuses databases that the store can't use. */
import { StoreFault } from '../fault.js';

interface Transacts {
  readonly isTransaction?: boolean | undefined;
  readonly inTransaction?: boolean | undefined;
}

/**
 * Refuses databases whose statements give promises or take callbacks, such as those of the package `sqlite3`, or D1.
 *
 * @param asks - the statement `SELECT 1 AS one`, or what the database gave instead of a statement
 */
export function refuseUnfit(scope: string, { isTransaction, inTransaction }: Transacts, asks: { get?(): unknown }): void {
  const { one } = Object(asks.get?.()) as { one?: unknown };
  if (Number(one) !== 1)
    throw new StoreFault(
      'denied',
      `the statements of the database of ${scope} do not give their rows at once: hand in a DatabaseSync of node:sqlite, or a Database of better-sqlite3`,
    );
  // node:sqlite before Node 22.16. A commit that failed would leave its transaction open, and what the app writes after it would be lost.
  if ((isTransaction ?? inTransaction) === undefined)
    throw new StoreFault('denied', `the database of ${scope} does not say whether a transaction is open; node:sqlite does from Node 22.16 on`);
}

interface Asks {
  prepare(sql: string): { get(): unknown };
}

/** The `journal_mode` of a connection. */
export const journalOf = (database: Asks): unknown => Object.values(Object(database.prepare('PRAGMA journal_mode').get()))[0];

/**
 * Gives the database of a file, unless its journal is not on the disk: then, if the process is killed in the middle of a commit, nothing can
 * undo the half that is written.
 */
export function withJournal<Database extends Asks>(scope: string, database: Database): Database {
  const mode = journalOf(database);
  if (mode === 'memory' || mode === 'off')
    throw new StoreFault('denied', `the journal_mode of ${scope} is ${mode}, so a killed process may destroy all records: set PRAGMA journal_mode = WAL`);
  return database;
}

export const inTransaction = ({ isTransaction, inTransaction }: Transacts): boolean => !!(isTransaction ?? inTransaction);

/** Refuses to go on while a transaction of the app's is open on its connection, as when the app awaits something in the middle of it. */
export function refuseWithin(database: Transacts): void {
  if (inTransaction(database)) throw new StoreFault('blocked', 'the connection is in the middle of a transaction');
}
