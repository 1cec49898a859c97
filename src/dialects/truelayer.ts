import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * TrueLayer's Payments API v3. The same key with the same payload gets an identical response for 30 days; its documentation once said
 * 6 hours. A payment may already have failed when it is answered with a 201, and when its authorization is answered with a 200. A payout
 * or a refund is answered with a 202, a copy of a request at work with a 409. `Tl-Signature` covers the key: sign in the `headers` hook,
 * which gets the request as it goes out.
 *
 * Not known: what marks a replay, which refusals are kept (a 409 about the resource asks to "try again"), how long a key may be, and
 * where it counts.
 *
 * @see https://docs.truelayer.com/docs/add-idempotency-to-your-payments-requests
 * @see https://docs.truelayer.com/docs/payments-api-errors
 * @see https://github.com/TrueLayer/truelayer-dotnet, the article on payments
 * @see https://github.com/TrueLayer/truelayer-java src/test/java/com/truelayer/java/integration; src/test/resources/__files/payments (d4173ee2)
 * @see https://github.com/TrueLayer/truelayer-signing request-signing-v2.md (26c193f6)
 * @see https://github.com/TrueLayer/truelayer-php tests/Mocks/ErrorResponse.php (292dd90e)
 */
export const truelayer = (): DefinedDialect =>
  defineDialect({
    name: 'truelayer',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    windowMs: 2_592_000_000,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: 409, at: { type: /idempotency-key-concurrency-conflict/ }, means: 'in-progress' },
      { status: 422, at: { type: /idempotency-key-reuse/ }, means: 'mismatch' },
      { status: [200, 201], at: { status: 'failed' }, present: 'failure_reason', means: 'refused', sticky: true },
      { status: 202, means: 'fresh' },
    ],
  });
