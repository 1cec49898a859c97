import { type DefinedDialect, defineDialect } from './define.js';
import { requestAndFieldErrors } from './graphql.js';
import { inBody, inDirective } from './key-location.js';
import { onlyKnown } from './misspelled.js';

/**
 * Shopify's Admin GraphQL API. The key goes into the directive `@idempotent(key:)`. If the document has the directive with a variable,
 * the key goes into that variable; if not, the directive is written after the mutation's field. All answers are a 200.
 *
 * `field`: for mutations that take the key as an argument instead, its path in the body, such as `variables.idempotencyKey`. What is
 * documented of the directive is not said of them: `appUsageRecordCreate` answers any later request of its key as it answered the
 * first one. So a changed payload is not sent under the same key, and 24 h are assumed.
 *
 * A repeated key is answered with the present state, and nothing marks that as a replay. So what is not found after a lost answer may
 * have been made and deleted since. Other user errors are read as a refusal, but beside an object with an `id`, or a list of such
 * objects, they prove nothing, so ask for the `id`. The lists of single mutations count, too: `orderCancelUserErrors`,
 * `mediaUserErrors`; an alias hides them. Internal errors do not tell either, as user errors or without data, "instead of 500"; after
 * `THROTTLED` the same key is sent again.
 *
 * @see https://shopify.dev/docs/api/usage/idempotent-requests
 * @see https://shopify.dev/docs/api/usage/implementing-idempotency
 * @see https://shopify.dev/docs/api/admin-graphql/latest#status_and_error_codes
 * @see https://shopify.dev/docs/api/admin-graphql/latest/enums/InventorySetQuantitiesUserErrorCode
 * @see https://shopify.dev/docs/api/admin-graphql/latest/enums/OrderCancelUserErrorCode
 * @see https://shopify.dev/docs/api/admin-graphql/latest/mutations/orderCancel
 * @see https://shopify.dev/changelog/idempotent-creation-of-appusagerecord
 */
export const shopify = ({ field, ...others }: { field?: string | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect shopify', others);
  return defineDialect({
    name: 'shopify',
    perAccount: false,
    place: field === undefined ? inDirective('idempotent', 'key') : inBody(field),
    windowMs: 86_400_000,
    marker: false,
    replays: true,
    answersMismatch: field === undefined,
    answers: [
      { status: 200, at: { 'data.*.*serErrors.*.code': 'IDEMPOTENCY_CONCURRENT_REQUEST' }, means: 'in-progress' },
      { status: 200, at: { 'data.*.*serErrors.*.code': 'IDEMPOTENCY_KEY_PARAMETER_MISMATCH' }, means: 'mismatch' },
      // The mutation did not ask for `code`. Only the message can tell these three from a refusal.
      {
        status: 200,
        at: { 'data.*.*serErrors.*.message': /request with this idempotency key failed/i },
        absent: 'data.*.*serErrors.*.code',
        empty: 'data.*.*.id',
        means: 'refused',
        sticky: true,
      },
      { status: 200, at: { 'data.*.*serErrors.*.message': /idempoten/i }, absent: 'data.*.*serErrors.*.code', means: 'in-progress' },
      ...requestAndFieldErrors('errors.*.extensions.code'),
      // If the answer has both an object, or a list of some, and a user error, nothing tells whether the mutation had its effect.
      { status: 200, present: 'data.*.*serErrors', at: { 'data.*.*.id': /./ }, means: 'open' },
      { status: 200, present: 'data.*.*serErrors', at: { 'data.*.*.*.id': /./ }, means: 'open' },
      { status: 200, at: { 'data.*.*serErrors.*.code': 'INTERNAL_ERROR' }, means: 'transient' },
      // "A previous request with this idempotency key failed. Retry with a new idempotency key."
      { status: 200, at: { 'data.*.*serErrors.*.code': 'IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED' }, means: 'refused', sticky: true },
      { status: 200, at: { 'data.*.*serErrors.*.code': 'NOT_FOUND' }, afterAmbiguity: true, means: 'open' },
      // Any other user error, whatever members of it the mutation asked for.
      { status: 200, present: 'data.*.*serErrors', means: 'refused' },
    ],
  });
};
