/** The arguments of a key function that stands alone, at a given time. */
import type { KeyStrategy } from 'oncefetch';
import { show } from '../support/stage.js';

export const at = (time: string): Parameters<KeyStrategy>[0] => ({
  namespace: 'u-7',
  operation: ['pay', 'c-42'],
  fingerprint: '',
  generation: 0,
  now: Date.parse(`2026-11-20T${time}Z`),
});
export { show };
