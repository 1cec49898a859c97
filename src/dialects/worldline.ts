import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/** No money moved: refused at once, or later, when it was to be captured, refunded or paid out. */
const NOT_MADE = /^REJECTED(_CAPTURE|_CREDIT)?$/;

/**
 * Worldline (Connect, Direct; formerly Ingenico). It never compares payloads: a repeated key gets the first answer, whatever its
 * payload, so a changed payload is not sent under the same key. Every answer but the first has a header with the time of the first
 * request; the 409 while that is at work may have it too. The status in a repeated answer may be newer than in the first one, so a
 * payment that was rejected meanwhile is a refusal, and so is one whose capture was: it "will never become successful". A refund, a
 * capture and a payout have the `status` at the top of the answer. `CANCELLED` is no refusal, because a cancellation is answered so.
 *
 * @see https://docs.direct.worldline-solutions.com/integration/api-developer-guide/idempotent-requests
 * @see https://docs.direct.worldline-solutions.com/integration/api-developer-guide/statuses
 * @see https://github.com/wl-online-payments-direct/sdk-nodejs src/generated/model/domain/index.ts, RefundResponse (063461e)
 * @see https://apireference.connect.worldline-solutions.com/s2sapi/v1/en_US/go/idempotent-requests.html
 * @see https://github.com/Worldline-Global-Collect/connect-sdk-nodejs src/utils/communicator.ts (acea45e)
 * @see https://github.com/Worldline-Global-Collect/connect-sdk-python3 worldline/connect/sdk/v1/domain: payment.py, created_payment_output.py, capture.py, refund_result.py, payout_result.py (e5dfdc8)
 */
export const worldline = (): DefinedDialect =>
  defineDialect({
    name: 'worldline',
    perAccount: false,
    place: inHeader('X-GCS-Idempotence-Key'),
    pattern: /^[\x21-\x7e]{1,40}$/,
    windowMs: 86_400_000,
    marker: { headers: { 'x-gcs-idempotence-request-timestamp': /^\d+$/ } },
    replays: true,
    answersMismatch: false,
    answers: [
      { status: 409, means: 'in-progress' },
      { status: [200, 201], at: { 'payment.status': NOT_MADE }, means: 'refused', sticky: true },
      { status: [200, 201], at: { status: NOT_MADE }, means: 'refused', sticky: true },
    ],
  });
