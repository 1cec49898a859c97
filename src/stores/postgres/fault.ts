/** Turns errors of PostgreSQL and its clients into StoreFaults. */
import type { StoreFaultReason } from '../../ports.js';
import { StoreFault } from '../fault.js';
import { READ_ONLY, TOO_LATE } from './sql.js';

/** A Pool or Client of `pg`, or anything with the same `query`. A single client must not be used for anything else. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Reasons by SQLSTATE, or by its class, which is its first two characters. */
const REASONS: Readonly<Record<string, StoreFaultReason>> = {
  '28': 'denied', // invalid authorization
  '42501': 'denied', // insufficient privilege
  '53100': 'quota', // disk full
  '53200': 'quota', // out of memory
  '54': 'quota', // program limit exceeded
  '53300': 'blocked', // too many connections
  '40': 'blocked', // serialization failure, deadlock: rolled back
  '40003': 'io', // whether it was committed is not known (CockroachDB)
  '55P03': 'blocked', // a lock was not available
  '57P03': 'blocked', // the server is starting up
  '57014': 'timeout', // statement_timeout
  XX001: 'corrupt',
  XX002: 'corrupt',
};

/** The SQLSTATE of an error; '' if it has none, for example because the connection broke. */
export function stateOf(thrown: unknown): string {
  const { code } = Object(thrown) as { code?: unknown };
  // Each has a digit, unlike EPIPE, which Node gives.
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(String(code)) ? String(code) : '';
}

export function postgresFault(scope: string, client: PostgresClient, thrown: unknown): StoreFault {
  if (thrown instanceof StoreFault) return thrown;
  const { message } = Object(thrown) as { message?: unknown };
  const state = stateOf(thrown);
  const { ending, ended, _ending, _ended } = client as Partial<Record<'ending' | 'ended' | '_ending' | '_ended', unknown>>;
  const closed = !state && [ending, ended, _ending, _ended].includes(true);
  // Our own statements fail on purpose with these texts: on a standby, where a mere read would succeed, and if they have waited too long.
  const says = (text: string): boolean => state === '22P02' && String(message).includes(text);
  // 25006 is the server's own refusal to write.
  const ours = state === '25006' || says(READ_ONLY) ? READ_ONLY : says(TOO_LATE) ? TOO_LATE : undefined;
  const reason = (ours && (ours === READ_ONLY ? 'denied' : 'blocked')) ?? REASONS[state] ?? REASONS[state.slice(0, 2)] ?? (closed ? 'closed' : 'io');
  return new StoreFault(reason, `${scope} failed: ${ours ?? String(message)}`, thrown);
}
