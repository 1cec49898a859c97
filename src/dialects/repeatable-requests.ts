import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';
import { onlyKnown } from './misspelled.js';

const FIVE_MINUTES_MS = 300_000;
const ACCEPTED = { 'repeatability-result': /^accepted$/i };
const REJECTED = { 'repeatability-result': /^rejected$/i };

/**
 * OASIS Repeatable Requests 1.0, as Azure's services speak it: two headers, of which the second has the time of the first attempt at
 * every attempt. A request whose first attempt was before the window is refused with a 412 and not executed; so is one with a wrong
 * clock. A 501 says that the endpoint does not support repeatable requests.
 *
 * `keepsRefusals`: the service repeats a 4xx for its key, as Azure Communication Services do; of others that is not known. Azure's
 * guideline requires a window of at least five minutes, which is assumed here.
 *
 * @see https://docs.oasis-open.org/odata/repeatable-requests/v1.0/repeatable-requests-v1.0.html
 * @see https://learn.microsoft.com/en-us/rest/api/communication/repeatable-requests
 * @see https://github.com/microsoft/api-guidelines azure/Guidelines.md, "Repeatability of requests"
 */
export const repeatableRequests = ({
  windowMs = FIVE_MINUTES_MS,
  keepsRefusals = false,
  ...others
}: {
  windowMs?: number | undefined;
  keepsRefusals?: boolean | undefined;
} = {}): DefinedDialect => {
  onlyKnown('dialect repeatable-requests', others);
  return defineDialect({
    name: 'repeatable-requests',
    place: inHeader('Repeatability-Request-ID', { firstSent: 'Repeatability-First-Sent' }),
    pattern: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i,
    windowMs,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: 409, headers: ACCEPTED, means: 'in-progress' },
      // This is either the first answer or a repetition of it.
      { status: 202, headers: ACCEPTED, means: 'fresh' },
      // The service answers in the same way if it can't parse the two headers.
      { status: 400, headers: REJECTED, means: 'mismatch' },
      { status: 412, headers: REJECTED, afterAmbiguity: true, means: 'open' },
      ...(keepsRefusals ? [{ status: [400, 402, 404, 410, 413, 415, 422], headers: ACCEPTED, means: 'refused', sticky: true } as const] : []),
    ],
  });
};
