/** Results of functions given to `run` that are not a Response. */

import type { Result } from './result.js';

export const valueResult = (value: unknown): Result => ({
  value,
  response: undefined,
  ok: true,
  lasting: true,
  copy: () => value,
});
