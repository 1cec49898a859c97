/** Rules for errors of GraphQL itself inside a 200 (specification of October 2021, section 7.1). */
import type { AnswerRule } from './define.js';

/**
 * Errors without `data`: nothing began to execute. Errors with `data`: a field failed, before or after its effect. Empty `data` without
 * errors is not valid GraphQL, and tells nothing.
 */
export const REQUEST_AND_FIELD_ERRORS: readonly AnswerRule[] = [
  { status: 200, present: 'errors.*', absent: 'data', means: 'refused' },
  { status: 200, present: 'errors', means: 'transient' },
  { status: 200, empty: 'data', means: 'transient' },
];
