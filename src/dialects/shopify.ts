import { type DefinedDialect, defineDialect } from './define.js';
import { REQUEST_AND_FIELD_ERRORS } from './graphql.js';
import { inBody, inDirective } from './key-location.js';
import { onlyKnown } from './misspelled.js';

/**
 * Shopify's Admin GraphQL API. The key goes into the directive `@idempotent(key:)`: into its variable if the document has one,
 * else the directive is written behind the mutation's field. `field`: for mutations with an argument of their own instead, its
 * path in the body, such as `variables.idempotencyKey`. Everything is said inside a 200.
 *
 * An answer to a known key is made from the present state, and nothing marks it. Other user errors are read as a refusal. Not
 * known: how long a key is remembered (24 h are assumed), and whether a mutation that reports user errors may have had part of
 * its effect.
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
      // The mutation did not ask for `code`, so nothing else tells a refusal from the two above.
      { status: 200, at: { 'data.*.userErrors.*.message': /idempoten/i }, absent: 'data.*.userErrors.*.code', means: 'in-progress' },
      ...REQUEST_AND_FIELD_ERRORS,
      // Whatever members of an error the mutation asked for.
      { status: 200, present: 'data.*.userErrors', means: 'refused' },
    ],
  });
};
