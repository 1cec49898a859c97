import { type DefinedDialect, defineDialect } from './define.js';
import { REQUEST_AND_FIELD_ERRORS } from './graphql.js';
import { inBody, inDirective } from './key-location.js';
import { onlyKnown } from './misspelled.js';

/**
 * Shopify's Admin GraphQL API. The key goes into the directive `@idempotent(key:)`. If the document has the directive with a variable,
 * the key goes into that variable; if not, the directive is written after the mutation's field. `field`: for mutations that take the
 * key as an argument instead, its path in the body, such as `variables.idempotencyKey`. All answers are a 200.
 *
 * A repeated key is answered with the present state, and nothing marks that as a replay. Other user errors are read as a refusal, but
 * beside an object with an `id` they prove nothing, so ask for the `id`. Not known: how long a key is remembered (24 h are assumed).
 *
 * @see https://shopify.dev/docs/api/usage/idempotent-requests
 * @see https://shopify.dev/docs/api/usage/implementing-idempotency
 */
export const shopify = ({ field, ...others }: { field?: string | undefined } = {}): DefinedDialect => {
  onlyKnown('dialect shopify', others);
  return defineDialect({
    name: 'shopify',
    place: field === undefined ? inDirective('idempotent', 'key') : inBody(field),
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: 200, at: { 'data.*.userErrors.*.code': 'IDEMPOTENCY_CONCURRENT_REQUEST' }, means: 'in-progress' },
      { status: 200, at: { 'data.*.userErrors.*.code': 'IDEMPOTENCY_KEY_PARAMETER_MISMATCH' }, means: 'mismatch' },
      // The mutation did not ask for `code`. Only the message can tell the two above from a refusal.
      { status: 200, at: { 'data.*.userErrors.*.message': /idempoten/i }, absent: 'data.*.userErrors.*.code', means: 'in-progress' },
      ...REQUEST_AND_FIELD_ERRORS,
      // Beside what the mutation gives, a user error does not tell whether it had its effect.
      { status: 200, present: 'data.*.userErrors', at: { 'data.*.*.id': /./ }, means: 'open' },
      // Any other user error, whatever members of it the mutation asked for.
      { status: 200, present: 'data.*.userErrors', means: 'refused' },
    ],
  });
};
