/** What GraphQL itself says of errors inside a 200 (specification of October 2021, section 7.1). */
import type { AnswerRule } from './define.js';

const ERRORS = { 'errors.*.message': /^/ };

/** Without `data` nothing began to execute; with it a field failed, before or after its effect. */
export const REQUEST_AND_FIELD_ERRORS: readonly AnswerRule[] = [
  { status: 200, at: ERRORS, absent: 'data', means: 'refused' },
  { status: 200, at: ERRORS, means: 'transient' },
];
