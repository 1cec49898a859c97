/** The shop's database: one SQLite file, which survives every kill of the server. */
import { DatabaseSync } from 'node:sqlite';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS charges (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cart TEXT NOT NULL, lane TEXT NOT NULL, amount INTEGER NOT NULL,
    key TEXT, -- not unique: this table must show what really happened, a second charge under one key included
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS charges_by_cart ON charges (lane, cart);

  CREATE TABLE IF NOT EXISTS idempotency_keys (
    key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, boot TEXT NOT NULL, cart TEXT NOT NULL, lane TEXT NOT NULL, at INTEGER NOT NULL,
    answer TEXT -- null while processing
  ) STRICT;
  CREATE INDEX IF NOT EXISTS keys_by_time ON idempotency_keys (at);
  CREATE INDEX IF NOT EXISTS keys_by_cart ON idempotency_keys (lane, cart);

  CREATE TABLE IF NOT EXISTS intents (
    lane TEXT NOT NULL, cart TEXT NOT NULL, at INTEGER NOT NULL,
    ended TEXT CHECK (ended IN ('done', 'gave-up', 'failed', 'refused')), -- what the customer believes; null while still trying
    PRIMARY KEY (lane, cart)
  ) STRICT;

  -- The plain form: a customer's carts, the latest last, each with the key that its page bears.
  CREATE TABLE IF NOT EXISTS forms (cart TEXT PRIMARY KEY, customer TEXT NOT NULL, key TEXT NOT NULL, problem TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS forms_by_customer ON forms (customer);

  -- In the database, because a fault that kills the server must not be forgotten by it.
  CREATE TABLE IF NOT EXISTS armed_faults (
    lane TEXT NOT NULL, fault TEXT NOT NULL, times INTEGER, rate REAL NOT NULL, ms INTEGER, PRIMARY KEY (lane, fault)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS met_faults (
    lane TEXT NOT NULL, cart TEXT NOT NULL, fault TEXT NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (lane, cart, fault)
  ) STRICT;
`;

export function openDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 5000 });
  // FULL: a charge that was acknowledged survives even a power cut.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  db.exec(SCHEMA);
  return db;
}

/** Does all of `work` or none of it. IMMEDIATE takes the write lock at the start, so that nobody else writes during the transaction. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const value = work();
    db.exec('COMMIT');
    return value;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

export function emptyAll(db: DatabaseSync): void {
  transaction(db, () => {
    for (const table of ['charges', 'idempotency_keys', 'intents', 'armed_faults', 'met_faults', 'forms']) db.exec(`DELETE FROM ${table}`);
  });
}
