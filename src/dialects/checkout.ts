import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { onlyKnown } from './misspelled.js';

/**
 * Checkout.com. Only a 2xx is stored; after a 4xx or 5xx the same key is executed again. A declined payment is a 201 too, with the
 * status `Declined`. While a request is at work, others with its key get a 409 and should wait 30 seconds; it used to be a 429, which
 * has no rule of its own here. A capture, a refund, a void and a payment that waits for the customer are answered with a 202, and so may be
 * the repetition of any payment, with the first answer in it; a request at work never is. Checkout.com can change the window of a
 * production account on request: then give `windowMs`.
 *
 * Not known: how it answers the same key with another payload.
 *
 * @see https://www.checkout.com/docs/payments/manage-payments/idempotency
 * @see https://www.checkout.com/docs/developer-resources/codes/api-response-codes
 * @see https://support.checkout.com/hc/en-us/articles/26763450855186-Duplicate-payment-request-responses
 * @see https://github.com/checkout/checkout-sdk-node test/payments (a1d2c72)
 */
export const checkout = ({ windowMs, ...others }: { windowMs?: number | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect checkout', others);
  return defineDialect({
    name: 'checkout',
    perAccount: false,
    place: inHeader('Cko-Idempotency-Key'),
    windowMs,
    marker: false,
    replays: true,
    inProgressAfterMs: 30_000,
    answers: [
      { status: 409, means: 'in-progress' },
      { status: [200, 201, 202], at: { status: 'Declined' }, means: 'refused', sticky: true },
      // Only with a body, because only that can say that it was not declined.
      { status: 202, text: /\S/, means: 'fresh' },
    ],
  });
};
