import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

const HEADERS = { payout: 'X-Payout-Idempotency', refund: 'X-Refund-Idempotency', transfer: 'X-Transfer-Idempotency' } as const;

/**
 * Razorpay; say what is made: payouts (which require a key), refunds or transfers. There is only one error code,
 * `BAD_REQUEST_ERROR`, so the description is read to tell a mismatch from work in progress. A payout that failed is a 200 and uses its
 * key up: a sticky refusal. A refund or transfer that failed is a refusal too, but it is not known whether that is kept.
 *
 * Not known: how long a key is remembered (24 h are assumed). A payout's key may contain spaces, but they are refused here, because
 * headers lose them at both ends.
 *
 * @see https://razorpay.com/docs/api/x/payout-idempotency/make-request
 */
export const razorpay = ({ makes, ...others }: { makes: keyof typeof HEADERS }): DefinedDialect => {
  onlyKnown('dialect razorpay', others);
  const header = oneOf('dialect razorpay: makes', makes, HEADERS);
  return defineDialect({
    name: 'razorpay',
    place: inHeader(header),
    pattern: makes === 'refund' ? /^[\w-]{10,255}$/ : /^[\w-]{4,36}$/,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: [400, 409], at: { 'error.description': /different request body/i }, means: 'mismatch' },
      // The server found no key, or none that it accepts: this dialect is the wrong one for it.
      { status: 400, at: { 'error.field': header }, means: 'refused' },
      { status: 409, at: { 'error.code': 'BAD_REQUEST_ERROR' }, means: 'in-progress' },
      { status: [200, 201], at: { entity: 'payout', status: 'failed' }, means: 'refused', sticky: true },
      { status: [200, 201], at: { entity: /^(refund|transfer)$/, status: 'failed' }, means: 'refused' },
    ],
  });
};
