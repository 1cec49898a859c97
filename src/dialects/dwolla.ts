import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Dwolla, for its POST calls. A key counts together with the exact body: nothing says that the same key with another body is
 * refused, so a changed payload is not sent under the same key. A 409 means that the first request is at work. After a 500 it may
 * come until the 24 hours are over, whether the transfer was made or not. For `reconcile`, make transfers with a `correlationId`:
 * `GET /accounts/{id}/transfers?correlationId=` finds them.
 *
 * Not known: what marks a replay, the code and body of the 409, which refusals are kept, and how long a key may be.
 *
 * @see https://developers.dwolla.com/docs/api-reference/api-fundamentals/idempotency-key
 * @see https://status.dwolla.com/incidents/bkl5393wxlhf
 * @see https://developers.dwolla.com/api-reference/accounts/list-and-search-transfers
 */
export const dwolla = (): DefinedDialect =>
  defineDialect({
    name: 'dwolla',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    windowMs: 86_400_000,
    marker: false,
    replays: true,
    answersMismatch: false,
    answers: [{ status: 409, means: 'in-progress' }],
  });
