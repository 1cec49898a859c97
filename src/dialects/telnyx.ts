import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Telnyx, for endpoints whose reference lists the header. Only successes are replayed. The same key with another query or body gets a
 * 422, which looks like any other 422. A key counts for one organization, method and path.
 *
 * Not known: what marks a replay, how work in progress is answered, and the code of a mismatch.
 *
 * @see https://developers.telnyx.com/docs/development/api-fundamentals/idempotency
 */
export const telnyx = (): DefinedDialect =>
  defineDialect({
    name: 'telnyx',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    pattern: /^[A-Za-z0-9_:-]{1,255}$/,
    windowMs: 86_400_000,
    scope: ['account', 'endpoint'],
    marker: false,
    replays: true,
    answersMismatch: true,
  });
