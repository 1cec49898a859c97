import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Adyen. Every answer echoes the key, the first one and replays alike, so nothing marks a replay. `transient-error` says whether
 * another attempt with the same key is worthwhile. Keys count within a company account and one region: another host has never seen
 * them.
 *
 * A declined payment is a 200 whose `resultCode` is `Refused` or `Cancelled`; the same key gets it again. `Error` says that
 * something went wrong while the payment was processed, not whether it was made: that is left open. A transfer, a donation or a new amount
 * that was refused is a 2xx whose `status` is `refused`, the return of a transfer one whose `status` is `Declined`, a grant one whose
 * `status` is `Failed`. The classic API answers a new amount at once with a 200 whose `response` is `Refused` or `Error`. A transfer is
 * answered with a 202, and so is its repetition, which gets the first answer; its end comes by webhook.
 *
 * An error that is not transient is kept: "something went wrong during transmission", so the payment may have been made, and every
 * repetition gets the same error. Without `transient-error: true` such an error should not be sent again.
 *
 * Not known: how it answers the same key with another payload, and which refusals it keeps.
 *
 * @see https://docs.adyen.com/development-resources/api-idempotency
 * @see https://github.com/Adyen/adyen-openapi json/CheckoutService-v71.json, `testerror`; json/CheckoutService-v72.json; json/TransferService-v4.json; json/PaymentService-v68.json, ModificationResult (aa014f0)
 * @see https://docs.adyen.com/online-payments/payment-result-codes
 */
export const adyen = (): DefinedDialect =>
  defineDialect({
    name: 'adyen',
    perAccount: false,
    place: inHeader('idempotency-key'),
    pattern: /^[\x21-\x7e]{1,64}$/,
    windowMs: 604_800_000,
    scope: ['account', 'region'],
    marker: false,
    replays: true,
    answers: [
      // "request already processed or in progress"
      { status: [409, 422], at: { errorCode: '704' }, means: 'in-progress' },
      { status: 200, at: { resultCode: /^(Refused|Cancelled)$/ }, means: 'refused', sticky: true },
      { status: 200, at: { resultCode: 'Error' }, means: 'burnt' },
      { status: 200, at: { response: 'Refused' }, means: 'refused', sticky: true },
      { status: 200, at: { response: 'Error' }, means: 'burnt' },
      { status: [200, 201, 202], at: { status: /^(refused|Declined|Failed)$/ }, means: 'refused', sticky: true },
      // Only with a body, because only that can say that it was not refused.
      { status: 202, text: /\S/, means: 'fresh' },
      { status: 500, headers: { 'transient-error': /^true$/i }, means: 'transient' },
      { status: 500, present: 'errorCode', means: 'burnt' },
    ],
  });
