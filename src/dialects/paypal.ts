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
/** The status of a capture, an authorization or a refund if no money moved. */
const NOT_MADE = /^(DECLINED|DENIED|FAILED)$/;

/**
 * PayPal's REST APIs. A repeated key gets "the latest status" of the earlier request, not a stored copy, and nothing marks it as a
 * replay. Without `api`, the shortest window of all is assumed, 3 hours.
 *
 * The capture of an order may be a 201 although the payment was declined. If an order has several payments and one of them was made,
 * the operation is done. An answer without payments (`Prefer: return=minimal`) does not tell. Version 1 of payments, which is deprecated,
 * says in `state` what became of a payment, a capture or a refund.
 *
 * The codes of business duplicates (invoice already paid, order already captured) settle nothing, because they may be about this
 * operation, sent by another device or before the storage was cleared, or about another one: `reconcile` is asked. Not known: whether
 * any refusal is kept. Not every API accepts the header. A key has up to 38 characters; only orders take longer ones.
 *
 * @see https://developer.paypal.com/api/rest/reference/idempotency
 * @see https://github.com/paypal/PayPal-PHP-SDK/issues/660
 * @see https://developer.paypal.com/api/deprecated/payments/v1/errors/duplicate_request_id
 * @see https://developer.paypal.com/api/payment-tokens/v3/errors/paypal_request_id_previously_used
 * @see https://github.com/paypal/paypal-rest-api-specifications openapi/*.json (ec4d8f3)
 */
export const paypal = ({ api, ...others }: { api?: keyof typeof WINDOWS_MS | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect paypal', others);
  return defineDialect({
    name: 'paypal',
    perAccount: false,
    place: inHeader('PayPal-Request-Id'),
    pattern: api === 'orders' ? /^[\x21-\x7e]{1,108}$/ : /^[\x21-\x7e]{1,38}$/,
    windowMs: oneOf('dialect paypal: api', api ?? 'vault', WINDOWS_MS),
    marker: false,
    replays: true,
    answers: [
      { at: { 'details.*.issue': 'PREVIOUS_REQUEST_IN_PROGRESS' }, means: 'in-progress' },
      { at: { 'details.*.issue': 'PAYPAL_REQUEST_ID_PREVIOUSLY_USED' }, means: 'mismatch' },
      // "Has already been used", which may also mean by this request. If nothing was sent before, a copy of this request has used it.
      { at: { name: 'DUPLICATE_REQUEST_ID' }, afterAmbiguity: true, means: 'mismatch' },
      { at: { name: 'DUPLICATE_REQUEST_ID' }, means: 'open' },
      // The server found no key, or none that it accepts: this dialect is the wrong one for it.
      { at: { 'details.*.issue': 'PAYPAL_REQUEST_ID_REQUIRED' }, means: 'refused' },
      {
        status: [400, 422],
        at: {
          'details.*.issue':
            /^(DUPLICATE_INVOICE_ID|ORDER_ALREADY_(CAPTURED|AUTHORIZED|COMPLETED)|AUTHORIZATION_ALREADY_CAPTURED|PREVIOUSLY_VOIDED|CAPTURE_FULLY_REFUNDED)$/,
        },
        means: 'open',
      },
      // The answer to a void, if the authorization was captured before.
      { status: [400, 422], at: { 'details.*.issue': 'PREVIOUSLY_CAPTURED' }, afterAmbiguity: true, means: 'open' },
      { status: MADE, at: { 'purchase_units.*.payments.*.*.status': /^(?!(DECLINED|DENIED|FAILED)$)/ }, means: 'fresh' },
      { status: MADE, at: { 'purchase_units.*.payments.*.*.status': NOT_MADE }, means: 'refused', sticky: true },
      // The answer to a capture, a refund or an authorization is that object itself.
      { status: MADE, at: { status: NOT_MADE }, means: 'refused', sticky: true },
      // The same of version 1.
      { status: MADE, at: { state: /^(denied|failed)$/ }, means: 'refused', sticky: true },
      { status: MADE, at: { 'batch_header.batch_status': 'DENIED' }, means: 'refused', sticky: true },
    ],
  });
};
