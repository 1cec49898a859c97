/** Stores requests, so that another page load or process can send them again. */
import { refuseArguments } from '../arguments.js';
import { requestParts } from '../http/stored-request.js';
import type { Feature } from '../option-types.js';

/**
 * Makes `keep: { request: true }` possible: requests are stored beside their keys, so that `resume` can send them again after a reload.
 *
 * @example
 * const once = createOnce({ use: [requests()], namespace: () => session.userId, keep: { request: true } });
 */
export const requests: () => Feature = (...given: unknown[]) => {
  refuseArguments('requests', given);
  return { parts: requestParts };
};
