import { type DefinedDialect, defineDialect } from './define.js';
import { requestAndFieldErrors } from './graphql.js';
import { inBody } from './key-location.js';
import { onlyKnown } from './misspelled.js';

/** States of a payment that was not made: declined by the processor, at once or when it was to settle; rejected by the gateway; or not sent to the processor. */
const NOT_MADE = /^(PROCESSOR_DECLINED|SETTLEMENT_DECLINED|GATEWAY_REJECTED|FAILED)$/;
const MADE = new RegExp(`^(?!${NOT_MADE.source})`);

/**
 * Braintree's GraphQL API ("at-most-once processing"). The key is the input's `apiRequestKey`; `clientMutationId` is not a key. A
 * repetition with the same key gets the transaction in its present state, and nothing marks it as a replay. A declined payment is a
 * transaction too, not an error. Only its `status` tells, so ask for `transaction { status }`, and likewise for that of a `refund` or
 * a `reversal`. If a document has several mutations and one of them was made, the operation is done.
 *
 * Work in progress, a mismatch and a wrong input are all a `VALIDATION` error inside a 200. After ambiguity it is taken for work in
 * progress, so only the same key is sent again. Not known: what tells them apart, the longest key, and which mutations take one; the
 * published schema lists none.
 *
 * @see https://developer.paypal.com/braintree/graphql/integration_guides/idempotency
 * @see https://github.com/braintree/graphql-api schema.graphql (2252d47)
 * @see https://github.com/braintree/braintree_node lib/braintree/graphql/graphql.js (7a9270a)
 * @see https://developer.paypal.com/braintree/graphql/reference/types/payment-status-event
 * @see https://developer.paypal.com/braintree/docs/reference/general/processor-responses/settlement-responses
 */
export const braintree = ({ field = 'variables.input.apiRequestKey', ...others }: { field?: string | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect braintree', others);
  return defineDialect({
    name: 'braintree',
    perAccount: false,
    place: inBody(field),
    windowMs: 2_592_000_000,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: 200, at: { 'errors.*.extensions.errorClass': 'VALIDATION' }, afterAmbiguity: true, means: 'in-progress' },
      // Only without data, because data beside the error may be part of the effect.
      { status: 200, at: { 'errors.*.extensions.errorClass': 'VALIDATION' }, empty: 'data.*', means: 'refused' },
      ...requestAndFieldErrors('errors.*.extensions.errorClass'),
      // If a document has several mutations and one of the payments was made, the operation is done.
      { status: 200, at: { 'data.*.*.status': MADE }, means: 'fresh' },
      // The status of a `transaction`, of a `refund`, or of a `reversal`, which is one of the two.
      { status: 200, at: { 'data.*.*.status': NOT_MADE }, means: 'refused', sticky: true },
    ],
  });
};
