import { type DefinedDialect, defineDialect } from './define.js';
import { inBody } from './key-location.js';

/**
 * Square. The key is a member of the JSON body. A payment or a refund that failed may be answered by a 200 too; its `status` tells.
 *
 * Not known: how long a key is remembered (Square publishes no time; 24 h are assumed), the longest key, which differs by
 * endpoint, how work in progress is answered, and whether every API answers a mismatch ("might vary depending on the API").
 *
 * @see https://developer.squareup.com/docs/working-with-apis/idempotency
 * @see https://github.com/square/square-nodejs-sdk src/api/types/ErrorCode.ts (c58c6e09), CreatePaymentResponse, RefundPaymentResponse
 */
export const square = (): DefinedDialect =>
  defineDialect({
    name: 'square',
    perAccount: false,
    place: inBody('idempotency_key'),
    marker: false,
    replays: true,
    answers: [
      { at: { 'errors.*.code': 'IDEMPOTENCY_KEY_REUSED' }, means: 'mismatch' },
      { status: 200, at: { 'payment.status': 'FAILED' }, means: 'refused' },
      { status: 200, at: { 'refund.status': /^(REJECTED|FAILED)$/ }, means: 'refused' },
      // The server found no key, or none that it accepts: this dialect is the wrong one for it.
      { status: 400, at: { 'errors.*.field': 'idempotency_key' }, means: 'refused' },
    ],
  });
