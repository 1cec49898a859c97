import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Mangopay, for its POST calls. It never replays: after the first request of a key, every other one gets a 409, whatever the first
 * one's result and payload. So that 409 does not mean work in progress, and proves no effect. For `reconcile`, a GET of
 * `/responses/{key}` gives the first answer. A declined payment is a 200 with the `Status` `FAILED`. A refund that failed because there was
 * an equal one within 24 hours may have been made by this operation, sent by another device or before the storage was cleared:
 * `reconcile` is asked.
 *
 * Not known: how a request is answered while its key is at work (only the same 409 is documented), and where a key counts.
 *
 * @see https://docs.mangopay.com/api-reference/overview/idempotency
 * @see https://docs.mangopay.com/api-reference/api-responses/view-api-response
 * @see https://docs.mangopay.com/errors/codes/009499
 * @see https://docs.mangopay.com/errors/codes/005407
 */
export const mangopay = (): DefinedDialect =>
  defineDialect({
    name: 'mangopay',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    pattern: /^[A-Za-z0-9-]{16,36}$/,
    windowMs: 86_400_000,
    marker: false,
    answersMismatch: true,
    answers: [
      { status: 409, at: { Type: 'idempotent_creation_conflict' }, means: 'burnt' },
      // A key counts from its first request, "regardless of the HTTP response code", so a copy of what was refused is blocked too.
      { status: 400, present: 'Type', means: 'refused', sticky: true },
      { status: 200, at: { Status: 'FAILED', ResultMessage: /^Duplicated operation/ }, means: 'open' },
      { status: 200, at: { Status: 'FAILED' }, means: 'refused', sticky: true },
    ],
  });
