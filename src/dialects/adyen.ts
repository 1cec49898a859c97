import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Adyen. The answer echoes the key, whether it is the first one or a replay, so nothing marks a replay. `transient-error`
 * says whether the same key is worth another attempt. Keys count for a company account and one region: another host has never
 * seen them.
 *
 * A declined payment is a 200 whose `resultCode` is `Refused` or `Cancelled`; the same key gets it again. `Error` says that
 * something went wrong while the payment was processed, not whether it was made: that is left open.
 *
 * Not known: how it answers the same key with another payload, and which refusals it keeps. Its pages have said "at least 31
 * days"; 7 days are taken here, because a shorter window only asks earlier.
 *
 * @see https://docs.adyen.com/development-resources/api-idempotency
 * @see https://docs.adyen.com/online-payments/payment-result-codes
 */
export const adyen = (): DefinedDialect =>
  defineDialect({
    name: 'adyen',
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
    ],
  });
