/** Turns errors of SQLite into StoreFaults. */
import type { StoreFaultReason } from '../../ports.js';
import { StoreFault } from '../fault.js';

/** Reasons by SQLite's primary result codes (sqlite.org/rescode.html). */
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

/** The result codes by name, which better-sqlite3 gives in `code`. */
const NAMES: Readonly<Record<string, number>> = {
  PERM: 3,
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  TOOBIG: 18,
  AUTH: 23,
  NOTADB: 26,
};

/** Extended codes for a disk that has no room for the file beside the log, which SQLite calls an I/O error. */
const NO_ROOM: readonly unknown[] = [4874, 'SQLITE_IOERR_SHMSIZE'];

interface SqliteError {
  readonly code?: unknown;
  readonly errcode?: unknown;
  readonly message?: unknown;
}

/** An error of the database as a {@link StoreFault}. Must not be called with what a change threw. */
export function sqliteFault(scope: string, thrown: unknown): StoreFault {
  if (thrown instanceof StoreFault) return thrown;
  const { code, errcode, message } = Object(thrown) as SqliteError;
  // The app has closed the connection: Node gives this code, better-sqlite3 a TypeError.
  if (code === 'ERR_INVALID_STATE' || (thrown instanceof TypeError && code === undefined))
    return new StoreFault('closed', `the connection to ${scope} is closed`, thrown);
  // The extended code has the primary one in its low byte.
  const primary = typeof errcode === 'number' ? errcode & 0xff : (NAMES[/^SQLITE_([A-Z]+)/.exec(String(code))?.[1] ?? ''] ?? 0);
  const full = NO_ROOM.includes(errcode) || NO_ROOM.includes(code);
  const folder = primary === NAMES['CANTOPEN'] ? '; its folder must be there, and this process must be allowed to write in it' : '';
  const hint = full ? '; the disk may be full' : folder;
  return new StoreFault(full ? 'quota' : (REASONS[primary] ?? 'io'), `${scope} failed: ${String(message)}${hint}`, thrown);
}
