import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

const HOUR_MS = 3_600_000;

/** How long each API stores a key, as its OpenAPI description says. */
const WINDOWS_MS = {
  orders: 6 * HOUR_MS,
  payments: 45 * 24 * HOUR_MS,
  subscriptions: 72 * HOUR_MS,
  products: 72 * HOUR_MS,
  payouts: 30 * 24 * HOUR_MS,
  vault: 3 * HOUR_MS,
} as const;

const MADE = [200, 201];
/** What a capture, an authorization or a refund is when no money moved. */
const NOT_MADE = /^(DECLINED|DENIED|FAILED)$/;

/**
 * PayPal's REST APIs. A key gives "the latest status" of the earlier request, not a stored copy, and nothing marks it. Without
 * `api` the shortest window of all counts, 3 hours.
 *
 * An order that is captured may be a 201 whose capture was declined. Where one of several payments of an order was made, it is
 * done. An answer that leaves them out (`Prefer: return=minimal`) tells nothing of it.
 *
 * After ambiguity the codes of business duplicates (an invoice paid, an order captured) are left open: they may speak of this
 * operation or of another one, so `reconcile` is asked. Not known: whether any refusal is kept. Not every API takes the header.
 *
 * @see https://developer.paypal.com/api/rest/reference/idempotency
 * @see https://github.com/paypal/paypal-rest-api-specifications openapi/*.json (ec4d8f3)
 */
export const paypal = ({ api, ...others }: { api?: keyof typeof WINDOWS_MS | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect paypal', others);
  return defineDialect({
    name: 'paypal',
    place: inHeader('PayPal-Request-Id'),
    pattern: /^[\x21-\x7e]{1,108}$/,
    windowMs: oneOf('dialect paypal: api', api ?? 'vault', WINDOWS_MS),
    marker: false,
    replays: true,
    answers: [
      { at: { 'details.*.issue': 'PREVIOUS_REQUEST_IN_PROGRESS' }, means: 'in-progress' },
      { at: { name: 'DUPLICATE_REQUEST_ID' }, means: 'mismatch' },
      // It found no key, or none that it takes: the dialect is the wrong one for this server.
      { at: { 'details.*.issue': 'PAYPAL_REQUEST_ID_REQUIRED' }, means: 'refused' },
      {
        status: [400, 422],
        at: {
          'details.*.issue':
            /^(DUPLICATE_INVOICE_ID|ORDER_ALREADY_(CAPTURED|AUTHORIZED|COMPLETED)|AUTHORIZATION_ALREADY_CAPTURED|PREVIOUSLY_(CAPTURED|VOIDED)|CAPTURE_FULLY_REFUNDED)$/,
        },
        afterAmbiguity: true,
        means: 'open',
      },
      { status: MADE, at: { 'purchase_units.*.payments.*.*.status': /^(?!(DECLINED|DENIED|FAILED)$)/ }, means: 'fresh' },
      { status: MADE, at: { 'purchase_units.*.payments.*.*.status': NOT_MADE }, means: 'refused', sticky: true },
      // The answer to a capture, a refund or an authorization is that itself.
      { status: MADE, at: { status: NOT_MADE }, means: 'refused', sticky: true },
      { status: MADE, at: { 'batch_header.batch_status': 'DENIED' }, means: 'refused', sticky: true },
    ],
  });
};
