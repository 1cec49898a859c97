import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Klarna, for its POST and PATCH calls. A retry within 24 hours is not executed again, and gets the same answer. A declined payment
 * is a 2xx whose `payment_transaction_response` says so; an order that must not be shipped is one whose `fraud_status` is `REJECTED`.
 *
 * Not known: what marks a replay, how work in progress and another payload are answered, and which refusals are kept.
 *
 * @see https://docs.klarna.com/klarna-network-distribution/payments/one-time-payments/server-side-only-integration/authorize-the-payment
 * @see https://docs.klarna.com/acquirer/klarna/get-started/integration-resilience/escalation-and-retry-policy
 * @see https://docs.klarna.com/order-management/in-depth-knowledge/pending-orders
 * @see https://github.com/tuutti/php-klarna-ordermanagement (a capture)
 */
export const klarna = (): DefinedDialect =>
  defineDialect({
    name: 'klarna',
    perAccount: false,
    place: inHeader('Klarna-Idempotency-Key'),
    windowMs: 86_400_000,
    marker: false,
    replays: true,
    answers: [
      // The answer to a capture has no body.
      { status: 201, text: /^$/, means: 'fresh' },
      { status: [200, 201], at: { 'payment_transaction_response.result': 'DECLINED' }, means: 'refused', sticky: true },
      { status: [200, 201], at: { fraud_status: 'REJECTED' }, means: 'refused', sticky: true },
    ],
  });
