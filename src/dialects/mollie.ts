import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/** A 409 that is not about the key: a payout can't be cancelled any more. */
const TOO_LATE = { status: 409, at: { detail: /\bin its current state\b/i } } as const;

/**
 * Mollie, for its POST calls: PATCH and DELETE ignore the key. It keeps an answer for one hour and replays it with
 * `Idempotent-Replayed: true`. The same key at another endpoint or with another payload is a 400, which looks like any other.
 *
 * A 409 is work in progress, unless it says that an equal refund came a moment ago or that a payout can't be cancelled any more. The
 * first of them settles nothing, because it may be about this operation, sent by another device or before the storage was cleared, and
 * neither does the second one after ambiguity: `reconcile` is asked.
 *
 * Not known: the bodies of the 400 and the 409 about keys, and whether refusals and failures are replayed too.
 *
 * @see https://docs.mollie.com/reference/api-idempotency
 * @see https://github.com/mollie/api-documentation source/overview/api-idempotency.rst (55628855; an hour since 2bdf01a2)
 * @see https://github.com/mollie/openapi specs.yaml (cfbba47b)
 */
export const mollie = (): DefinedDialect =>
  defineDialect({
    name: 'mollie',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    windowMs: 3_600_000,
    marker: { headers: { 'idempotent-replayed': 'true' } },
    replays: true,
    answersMismatch: true,
    answers: [
      // A recurring card payment may already have been declined when it is answered; captures, refunds, payouts and transfers have the same status.
      { status: 201, at: { resource: /./, status: 'failed' }, means: 'refused', sticky: true },
      { status: 409, at: { detail: /\bduplicate refund\b/i }, means: 'open' },
      { ...TOO_LATE, afterAmbiguity: true, means: 'open' },
      { ...TOO_LATE, means: 'refused' },
    ],
  });
