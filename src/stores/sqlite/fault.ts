/** Turns errors of SQLite into StoreFaults. */
import type { StoreFaultReason } from '../../ports.js';
import { StoreFault } from '../fault.js';

/** Reasons by SQLite's result codes (sqlite.org/rescode.html): node:sqlite gives the number, better-sqlite3 and bun:sqlite the name. */
const REASONS: Readonly<Record<number | string, StoreFaultReason>> = {
  3: 'denied',
  PERM: 'denied',
  5: 'blocked',
  BUSY: 'blocked',
  6: 'blocked',
  LOCKED: 'blocked',
  8: 'denied',
  READONLY: 'denied',
  11: 'corrupt',
  CORRUPT: 'corrupt',
  13: 'quota',
  FULL: 'quota',
  // Too many raced for the file's locks.
  15: 'blocked',
  PROTOCOL: 'blocked',
  18: 'quota',
  TOOBIG: 'quota',
  23: 'denied',
  AUTH: 'denied',
  26: 'corrupt',
  NOTADB: 'corrupt',
  // The disk has no room for the file beside the log. SQLite calls this an I/O error.
  4874: 'quota',
  IOERR_SHMSIZE: 'quota',
};

interface SqliteError {
  readonly code?: unknown;
  /** Absent in other errors. Bits of `undefined` are 0, which is no code of an error. */
  readonly errcode: number;
  readonly message?: unknown;
}

/** An error of the database as a {@link StoreFault}. Must not be called with what a change threw. */
export function sqliteFault(scope: string, thrown: unknown): StoreFault {
  if (thrown instanceof StoreFault) return thrown;
  const { code, errcode, message } = Object(thrown) as SqliteError;
  // The app has closed the connection: Node gives this code, better-sqlite3 a TypeError.
  if (code === 'ERR_INVALID_STATE' || (thrown instanceof TypeError && !code)) return new StoreFault('closed', `the connection to ${scope} is closed`, thrown);
  // An extended code has the primary one in its low byte, and in the first word of its name. Inherited names have other letters.
  const [, name, primary] = /^SQLITE_(([A-Z]+)\w*)/.exec(String(code)) ?? ([] as string[]);
  const reason = REASONS[errcode] ?? REASONS[errcode & 0xff] ?? REASONS[name as string] ?? REASONS[primary as string];
  const hint = /unable to open/.test(message as string) ? '; its folder must be there, and writable' : '';
  return new StoreFault(reason ?? 'io', `${scope} failed: ${message}${hint}`, thrown);
}
