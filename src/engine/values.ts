/** Results of functions given to `run` that are no Response. */

import type { StoredAnswer } from '../core/record.js';
import type { Result } from './result.js';

export const valueResult = (value: unknown): Result => ({
  value,
  response: undefined,
  ok: true,
  lasting: true,
  copy: () => value,
  stored: () => atRest(value),
});

function atRest(value: unknown): StoredAnswer | undefined {
  try {
    return { json: JSON.stringify(value) };
  } catch {
    return undefined;
  }
}
