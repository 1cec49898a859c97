import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

/** Less than the seven calendar days within which a payout may be sent again, because the first of them may be nearly over. */
const SIX_DAYS_MS = 518_400_000;

const HEADERS = { payout: 'X-Payout-Idempotency', refund: 'X-Refund-Idempotency', transfer: 'X-Transfer-Idempotency' } as const;

/**
 * Razorpay; say what is made: payouts (which require a key), refunds or transfers. There is only one error code,
 * `BAD_REQUEST_ERROR`, so the description is read to tell a mismatch from work in progress. A payout that failed is a 200 and uses its
 * key up: a sticky refusal. A repeated key gets the payout "along with the current status", so a payout that was reversed, rejected or
 * cancelled meanwhile is such a refusal too. A refund or transfer that failed is a refusal, but it is not known whether that is kept.
 *
 * Only these take a key: payouts and composite payouts, refunds, and direct transfers (`POST /transfers`). A transfer of a payment or
 * an order does not.
 *
 * Not known: how long the key of a refund or a transfer is remembered (24 h are assumed). A payout's key may contain spaces, but they
 * are refused here, because headers lose them at both ends.
 *
 * @see https://razorpay.com/docs/api/x/payout-idempotency/make-request
 * @see https://github.com/razorpay/markdown-docs errors/x.md, "Handling 5XX Errors"; x/payouts/states-life-cycle.md; api/refunds/normal-refunds-idempotent.md; api/payments/route/direct-transfers-idempotent-request.md (ab3bda5)
 */
export const razorpay = ({ makes, ...others }: { makes: keyof typeof HEADERS }): DefinedDialect => {
  onlyKnown('dialect razorpay', others);
  const header = oneOf('dialect razorpay: makes', makes, HEADERS);
  return defineDialect({
    name: 'razorpay',
    perAccount: false,
    place: inHeader(header),
    pattern: makes === 'refund' ? /^[\w-]{10,255}$/ : /^[\w-]{4,36}$/,
    windowMs: makes === 'payout' ? SIX_DAYS_MS : undefined,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: [400, 409], at: { 'error.description': /different request/i }, means: 'mismatch' },
      // The server found no key, or none that it accepts: this dialect is the wrong one for it.
      { status: 400, at: { 'error.field': header }, means: 'refused' },
      { status: 409, at: { 'error.code': 'BAD_REQUEST_ERROR' }, means: 'in-progress' },
      { status: [200, 201], at: { entity: 'payout', status: /^(failed|reversed|rejected|cancelled)$/ }, means: 'refused', sticky: true },
      { status: [200, 201], at: { entity: /^(refund|transfer)$/, status: 'failed' }, means: 'refused' },
    ],
  });
};
