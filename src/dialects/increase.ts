import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/** The `type` of what moves money when it is made. An inbound transfer is declined by request, and then that is a success. */
const OUTGOING = /^((ach|card_push|check|fednow|real_time_payments|swift|wire)_transfer|check_deposit)$/;

/**
 * Increase. A key belongs for ever to the object that it made: the same request gets the object with `Idempotent-Replayed: true`,
 * another request with that key gets a 409 with the object's id. For `reconcile`, objects can be listed by `?idempotency_key=`.
 * `x-should-retry` is heeded. A transfer or deposit that was rejected or declined, at once or before its answer came again, is a refusal.
 *
 * Not known: how it answers while an earlier attempt is at work.
 *
 * @see https://increase.com/documentation/idempotency-keys
 * @see https://github.com/Increase/increase-typescript src/core/error.ts, src/client.ts, src/resources (aac4760e)
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
    answers: [
      { status: 409, at: { type: 'idempotency_key_already_used_error' }, means: 'done-elsewhere', resource: 'resource_id' },
      { status: [200, 201], at: { type: OUTGOING, status: /^(rejected|declined)$/ }, means: 'refused', sticky: true },
    ],
  });
