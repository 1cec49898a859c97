import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Increase. A key belongs for ever to the object that it made: the same request gets the object with `Idempotent-Replayed: true`,
 * another request with that key gets a 409 with the object's id. For `reconcile`, objects can be listed by `?idempotency_key=`.
 * `x-should-retry` is heeded.
 *
 * Not known: how it answers while an earlier attempt is at work.
 *
 * @see https://increase.com/documentation/idempotency-keys
 * @see https://github.com/Increase/increase-typescript src/core/error.ts, src/client.ts (aac4760e)
 */
export const increase = (): DefinedDialect =>
  defineDialect({
    name: 'increase',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    pattern: /^[\x21-\x7e]{1,200}$/,
    // A hundred years, for "for ever".
    windowMs: 3_155_760_000_000,
    marker: { headers: { 'idempotent-replayed': 'true' } },
    replays: true,
    answersMismatch: true,
    answers: [{ status: 409, at: { type: 'idempotency_key_already_used_error' }, means: 'done-elsewhere', resource: 'resource_id' }],
  });
