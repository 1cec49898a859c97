import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

const HEADER = inHeader('Idempotency-Key');
const PATTERN = /^[\x21-\x7e]{1,255}$/;

/**
 * Stripe's API v1. It stores the answer of every request that began to execute, a 500 too, and replays it with
 * `Idempotent-Replayed: true`; what fails validation, conflicts with a request under way, or is turned away with a 401 or 429
 * is not stored. A declined card is an executed request, so its refusal is sticky. `Stripe-Should-Retry` is heeded.
 *
 * Not known: the exact moment after 24 hours when a key is pruned.
 *
 * @see https://docs.stripe.com/api/idempotent_requests
 * @see https://docs.stripe.com/error-low-level
 * @see https://github.com/stripe/stripe-node src/RequestSender.ts, src/Error.ts (663942164)
 */
export const stripe = (): DefinedDialect =>
  defineDialect({
    name: 'stripe',
    place: HEADER,
    pattern: PATTERN,
    windowMs: 86_400_000,
    marker: { headers: { 'idempotent-replayed': 'true' } },
    replays: true,
    answersMismatch: true,
    answers: [
      { at: { 'error.code': 'idempotency_key_in_use' }, means: 'in-progress' },
      { at: { 'error.type': 'idempotency_error' }, means: 'mismatch' },
      { status: 402, at: { 'error.type': 'card_error' }, means: 'refused', sticky: true },
    ],
  });

/**
 * Stripe's API v2. It does not keep failures: the same key goes on with what failed, so the answer may differ from the first
 * one, and nothing but a success settles after ambiguity.
 *
 * Not known: what marks a replay. Work in progress is read by the code that Stripe's list of error codes has for it, which does
 * not tell versions apart; its overview of v2 is silent on it.
 *
 * @see https://docs.stripe.com/api-v2-overview#idempotency
 * @see https://docs.stripe.com/error-codes#idempotency-key-in-use
 * @see https://github.com/stripe/stripe-node src/Error.ts, generateV2Error (663942164)
 */
export const stripeV2 = (): DefinedDialect =>
  defineDialect({
    name: 'stripe-v2',
    place: HEADER,
    pattern: PATTERN,
    windowMs: 2_592_000_000,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { at: { 'error.code': 'idempotency_key_in_use' }, means: 'in-progress' },
      { at: { 'error.type': 'idempotency_error' }, means: 'mismatch' },
    ],
  });
