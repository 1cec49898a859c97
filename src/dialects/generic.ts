import type { Answer, Dialect } from '../core/dialect.js';
import { onlyKnown } from './misspelled.js';

/**
 * The replay markers in use, each with its true value: Stripe, Increase, Whop (`Idempotent-Replayed`), Zuplo, PPRO,
 * Flutterwave and others. The value counts, not the presence of the header, because one service always sends it.
 */
const MARKERS = [
  'idempotent-replayed',
  'idempotency-replayed',
  'x-idempotent-replayed',
  'x-idempotency-replayed',
  'idempotent-replay',
  'idempotency-replay',
  'x-idempotent-replay',
  'x-idempotency-replay',
  'x-idempotency-cache-hit',
  'request-idempotency',
];

/** Whether the answer has any of the replay markers in use. */
export const isMarked = (answer: Answer): boolean =>
  MARKERS.some((name) => /^\s*\??(true|1|yes)\s*$/i.test(answer.header(name) ?? '')) ||
  /^\s*(replayed|completed)\s*$/i.test(answer.header('x-idempotency-status') ?? answer.header('idempotency-status') ?? '');

/** Whether the answer has one of these headers at all, with any value. Then the server's key layer made it or passed it on. */
export const bearsMarker = (answer: Answer): boolean => MARKERS.some((name) => answer.header(name) !== null);

/** The dialect of a client that was given none. */
export const GENERIC: Dialect = {
  name: 'generic',
  carrier: 'header:Idempotency-Key',
  // Visible ASCII: no space, no line break, nothing that could end or fold a header field.
  keyPattern: /^[\x21-\x7e]{1,255}$/,
  windowMs: 86_400_000,
  replays: false,
  replayed: isMarked,
  keyLayer: bearsMarker,
};

/**
 * The default: a server of which only one thing is known, that it honours a key in a header.
 *
 * Recognises every replay marker in use, problem details (RFC 9457) with the titles of the IETF draft, and codes and words that many
 * servers use. Not known: how long the server remembers a key (24 h are assumed), whether it reports a mismatch, and whether a key counts
 * for one signed-in user only. So after a log-in, oncefetch sends nothing for a guest's operation that may have taken effect, unless
 * `perAccount: false` says that all users share the keys.
 *
 * @example
 * createOnce({ dialect: generic({ header: 'X-Idempotency-Key', windowMs: 3_600_000 }) });
 */
export function generic({
  header,
  windowMs,
  perAccount,
  ...others
}: {
  header?: string | undefined;
  windowMs?: number | undefined;
  perAccount?: boolean | undefined;
} = {}): Dialect {
  onlyKnown('dialect generic', others);
  return { ...GENERIC, ...(header !== undefined && { carrier: `header:${header}` }), ...(windowMs !== undefined && { windowMs }), perAccount };
}

/** A server that knows no keys: a request that may have had its effect is not sent again. */
export const keyless: Dialect = { ...GENERIC, name: 'none', carrier: '', replayed: () => false };
