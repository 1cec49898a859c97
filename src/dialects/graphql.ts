/** What GraphQL itself says of errors inside a 200 (specification of October 2021, section 7.1). */
import type { AnswerRule } from './definition.js';

/** Without `data` nothing began to execute; with it a field failed, before or after its effect. Neither of them is no GraphQL, and says nothing. */
export const REQUEST_AND_FIELD_ERRORS: readonly AnswerRule[] = [
  { status: 200, present: 'errors.*', absent: 'data', means: 'refused' },
  { status: 200, present: 'errors', means: 'transient' },
  { status: 200, empty: 'data', means: 'transient' },
];
