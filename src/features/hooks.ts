/** Lets functions of the app take part in calls. */
import { refuseArguments } from '../arguments.js';
import type { Parts } from '../engine/client.js';
import { beginByStrategy } from '../engine/key-strategy.js';
import { askFingerprint } from '../http/fingerprint-hook.js';
import { withHeaders } from '../http/headers-hook.js';
import { askVerdict } from '../http/verdict-hook.js';
import type { Feature } from '../option-types.js';
import { withDialect } from '../options.js';

/**
 * Allows the options that are functions asked in the middle of a call: `headers`, `verdict`, `fingerprint`, and `key` and `dialect` as
 * functions.
 *
 * @example
 * const once = createOnce({ use: [hooks()], headers: async () => ({ authorization: `Bearer ${await accessToken()}` }) });
 */
export const hooks: () => Feature = (...given: unknown[]) => {
  refuseArguments('hooks', given);
  return {
    parts: {
      hooks: { headers: withHeaders, verdict: askVerdict, fingerprint: askFingerprint, key: beginByStrategy, dialect: withDialect },
    } satisfies Partial<Parts>,
  };
};
