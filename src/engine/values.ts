/** Results of functions given to `run` that are no Response. */

import type { StoredAnswer } from '../core/record.js';
import type { Result } from './result.js';

/** `stored`: see {@link Result.stored}; absent if the value comes from the store. */
export const valueResult = (value: unknown, stored = (): StoredAnswer | undefined => undefined): Result => ({
  value,
  response: undefined,
  ok: true,
  lasting: true,
  copy: () => value,
  stored,
});
