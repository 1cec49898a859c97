import { type DefinedDialect, defineDialect } from './define.js';
import { inBody, inQuery } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

/**
 * Google APIs with a request id (AIP-155): a field of the request message, which most of them take as the query parameter
 * `requestId`. A repetition may be answered with the present state instead of the first answer, and only after a success.
 *
 * Not known: how long an id is remembered ("any reasonable timeframe"; 24 h are assumed), and how the same id with another
 * payload, or work in progress, is answered.
 *
 * @see https://google.aip.dev/155
 * @see https://google.aip.dev/194
 */
export const googleRequestId = ({
  field = 'requestId',
  goes = 'query',
  windowMs,
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
  });
};
