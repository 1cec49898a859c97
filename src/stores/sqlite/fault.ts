/** What SQLite says, as a StoreFault. */
import type { StoreFaultReason } from '../../ports.js';
import { StoreFault } from '../fault.js';

/** SQLite's primary result codes that say why: sqlite.org/rescode.html. */
const REASONS: Readonly<Record<number, StoreFaultReason>> = {
  3: 'denied', // PERM
  5: 'blocked', // BUSY
  6: 'blocked', // LOCKED
  8: 'denied', // READONLY
  11: 'corrupt', // CORRUPT
  13: 'quota', // FULL
  15: 'blocked', // PROTOCOL: too many raced for the file's locks
  18: 'quota', // TOOBIG
  23: 'denied', // AUTH
  26: 'corrupt', // NOTADB
};

/** The same by name, as better-sqlite3 has it in `code`. */
const NAMES: Readonly<Record<string, number>> = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  CORRUPT: 11,
  FULL: 13,
  PROTOCOL: 15,
  TOOBIG: 18,
  AUTH: 23,
  NOTADB: 26,
};

interface SqliteError {
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly message?: unknown;
}

/** What was thrown at the work on a database, as a {@link StoreFault}; never what a change threw. */
export function sqliteFault(scope: string, thrown: unknown): StoreFault {
  if (thrown instanceof StoreFault) return thrown;
  const { code, errcode, message } = Object(thrown) as SqliteError;
  // Node says so of a connection that its owner closed; better-sqlite3 has a TypeError for it.
  if (code === 'ERR_INVALID_STATE' || (thrown instanceof TypeError && code === undefined))
    return new StoreFault('closed', `the connection to ${scope} is closed`, thrown);
  // The extended code has the primary one in its low byte.
  const primary = typeof errcode === 'number' ? errcode & 0xff : (NAMES[/^SQLITE_([A-Z]+)/.exec(String(code))?.[1] ?? ''] ?? 0);
  return new StoreFault(REASONS[primary] ?? 'io', `${scope} failed: ${String(message)}`, thrown);
}
