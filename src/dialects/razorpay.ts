import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

const HEADERS = { payout: 'X-Payout-Idempotency', refund: 'X-Refund-Idempotency', transfer: 'X-Transfer-Idempotency' } as const;

/**
 * Razorpay, by what is made: payouts (which demand a key), refunds or transfers. One code, `BAD_REQUEST_ERROR`, stands for
 * everything, so the description tells a mismatch from work in progress. A payout that failed uses its key up: the answer is a
 * 200, read as a sticky refusal. So is a refund or a transfer that failed, of which nothing is known to be kept.
 *
 * Not known: how long a key is remembered (24 h are assumed). Spaces, which a payout's key may have, are refused here, because
 * a header loses them at its ends.
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
      // It found no key, or none that it takes: the dialect is the wrong one for this server.
      { status: 400, at: { 'error.field': header }, means: 'refused' },
      { status: 409, at: { 'error.code': 'BAD_REQUEST_ERROR' }, means: 'in-progress' },
      { status: [200, 201], at: { entity: 'payout', status: 'failed' }, means: 'refused', sticky: true },
      { status: [200, 201], at: { entity: /^(refund|transfer)$/, status: 'failed' }, means: 'refused' },
    ],
  });
};
