import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * GoCardless. It never replays: once a key has made something, every request with it gets a 409 with the id of that, whatever the
 * payload. `reconcile` gets this answer. Without `reconcile`, the call rejects with ERR_ONCE_ALREADY_DONE and the id, which you can GET.
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
    perAccount: false,
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
