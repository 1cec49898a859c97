import type { Dialect } from '../core/dialect.js';

/**
 * The replay markers in use, each with its true value: Stripe, Increase, Whop (`Idempotent-Replayed`), Zuplo, PPRO,
 * Flutterwave and others. One service always sends the header, hence the value counts, not its presence.
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

/** A server of which nothing more is known than that it honours `Idempotency-Key`. */
export const generic: Dialect = {
  name: 'generic',
  carrier: 'header:Idempotency-Key',
  // Visible ASCII: no space, no line break, nothing that could end or fold a header field.
  keyPattern: /^[\x21-\x7e]{1,255}$/,
  windowMs: 86_400_000,
  replays: false,
  replayed: (answer) =>
    MARKERS.some((name) => /^\s*\??(true|1|yes)\s*$/i.test(answer.header(name) ?? '')) ||
    /^\s*(replayed|completed)\s*$/i.test(answer.header('x-idempotency-status') ?? answer.header('idempotency-status') ?? ''),
};

/** A server that knows no keys: what may have had its effect is not sent again. */
export const keyless: Dialect = { ...generic, name: 'none', carrier: '', replayed: () => false };
