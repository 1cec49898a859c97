import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

const HEADER = inHeader('Idempotency-Key');
const PATTERN = /^[\x21-\x7e]{1,255}$/;

/**
 * Stripe's API v1. It stores the answer to every request that began to execute, even a 500, and replays it with
 * `Idempotent-Replayed: true`. Not stored are the answers to requests that fail validation, conflict with a request under way, or get
 * a 401 or 429. A declined card means that the request was executed, so the refusal is sticky. `Stripe-Should-Retry` is heeded.
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
    perAccount: false,
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
 * Stripe's API v2. It does not keep failures: a repetition of the key executes the failed request again, so the answer may differ from
 * the first one, and after ambiguity only a success settles.
 *
 * Not known: what marks a replay. Work in progress is recognised by its code in Stripe's list of error codes, which does not
 * distinguish versions; the overview of v2 does not mention it.
 *
 * @see https://docs.stripe.com/api-v2-overview#idempotency
 * @see https://docs.stripe.com/error-codes#idempotency-key-in-use
 * @see https://github.com/stripe/stripe-node src/Error.ts, generateV2Error (663942164)
 */
export const stripeV2 = (): DefinedDialect =>
  defineDialect({
    name: 'stripe-v2',
    perAccount: false,
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
