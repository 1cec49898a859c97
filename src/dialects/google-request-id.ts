import { type DefinedDialect, defineDialect } from './define.js';
import { inBody, inQuery } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

const HOUR_MS = 3_600_000;

/**
 * Google APIs with a request id (AIP-155): a field of the request message, which most of them take as the query parameter
 * `requestId`. A repetition may be answered with the present state instead of the first answer, and only after a success. A long-running
 * operation that has failed is a refusal, which is not known to be kept; one that is still at work is `done`.
 *
 * Not known in general: how long an id is remembered ("any reasonable timeframe"). Many of the APIs guarantee 60 minutes and no more,
 * so these are assumed; give `windowMs` if yours says more. Nor how the same id with another payload, or work in progress, is answered.
 *
 * @see https://google.aip.dev/155
 * @see https://cloud.google.com/python/docs/reference/networkconnectivity/1.1.0/google.cloud.networkconnectivity_v1.types.DeleteHubRequest
 * @see https://google.aip.dev/151
 * @see https://cloud.google.com/compute/docs/reference/rest/v1/globalOperations
 * @see https://google.aip.dev/194
 */
export const googleRequestId = ({
  field = 'requestId',
  goes = 'query',
  windowMs = HOUR_MS,
  ...others
}: {
  field?: string | undefined;
  goes?: 'body' | 'query' | undefined;
  windowMs?: number | undefined;
} = {}): DefinedDialect => {
  onlyKnown('dialect google-request-id', others);
  return defineDialect({
    name: 'google-request-id',
    perAccount: false,
    place: oneOf('dialect google-request-id: goes', goes, { body: inBody, query: inQuery })(field),
    // "Restricted to 36 ASCII characters"; UUIDs may be the only valid format.
    pattern: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i,
    windowMs,
    marker: false,
    answers: [
      { status: 200, at: { done: 'true' }, present: 'error', means: 'refused' },
      // Compute Engine says `DONE` even if the operation failed.
      { status: 200, at: { kind: /#operation$/, status: 'DONE' }, present: 'error.errors', means: 'refused' },
    ],
  });
};
