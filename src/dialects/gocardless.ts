import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * GoCardless. It never replays: a key that made something is answered 409 with the id of what it made, whatever the payload.
 * `reconcile` gets that answer; without one the call rejects with ERR_ONCE_ALREADY_DONE and the id, for a GET.
 *
 * Not known: how long a key is remembered (24 h are assumed) and how long it may be.
 *
 * @see https://developer.gocardless.com/api-reference#making-requests-idempotency-keys
 * @see https://gocardless.com/blog/idempotency-keys
 * @see https://github.com/gocardless/gocardless-nodejs src/errors.ts, src/fixtures/idempotency_conflict.json (d15252a)
 */
export const gocardless = (): DefinedDialect =>
  defineDialect({
    name: 'gocardless',
    place: inHeader('Idempotency-Key'),
    marker: false,
    answersMismatch: true,
    answers: [
      {
        status: 409,
        at: { 'error.errors.*.reason': 'idempotent_creation_conflict' },
        means: 'done-elsewhere',
        resource: 'error.errors.*.links.conflicting_resource_id',
      },
    ],
  });
