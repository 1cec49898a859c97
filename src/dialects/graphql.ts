/** Rules for errors of GraphQL itself inside a 200 (specification of October 2021, section 7.1). */
import type { AnswerRule } from './definition.js';

/** What Shopify and Braintree say inside a 200 where others would give a 5xx or a 429. */
const TROUBLE = /^(INTERNAL(_SERVER_ERROR)?|SERVICE_AVAILABILITY|RESOURCE_LIMIT|THROTTLED)$/;

/** What they say instead of a 401, a 403 or a 404. */
const NO_ACCESS = /^(ACCESS_DENIED|SHOP_INACTIVE|AUTHENTICATION|AUTHORIZATION|UNSUPPORTED_CLIENT|NOT_FOUND)$/;

/**
 * Errors without `data`: nothing began to execute, unless the code says that the service itself failed. Errors with `data`: a field failed,
 * before or after its effect. Empty `data` without errors is not valid GraphQL, and tells nothing. `code`: the path to an error's code.
 */
export const requestAndFieldErrors = (code: string): readonly AnswerRule[] => [
  { status: 200, at: { [code]: TROUBLE }, means: 'transient' },
  // Who may not call now may have been served before.
  { status: 200, at: { [code]: NO_ACCESS }, absent: 'data', afterAmbiguity: true, means: 'open' },
  { status: 200, present: 'errors.*', absent: 'data', means: 'refused' },
  { status: 200, present: 'errors', means: 'transient' },
  { status: 200, empty: 'data', means: 'transient' },
];
