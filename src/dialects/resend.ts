import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Resend. A 409 is either work in progress or a mismatch; the `name` in the body says which.
 *
 * Not known: what marks a replay (it has the same id as the first answer), and which refusals are kept.
 *
 * @see https://resend.com/docs/dashboard/emails/idempotency-keys
 * @see https://github.com/resend/resend-node src/interfaces.ts, RESEND_ERROR_CODES_BY_KEY (3f67459)
 */
export const resend = (): DefinedDialect =>
  defineDialect({
    name: 'resend',
    perAccount: false,
    place: inHeader('Idempotency-Key'),
    pattern: /^[\x21-\x7e]{1,256}$/,
    windowMs: 86_400_000,
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: 409, at: { name: 'concurrent_idempotent_requests' }, means: 'in-progress' },
      { status: 409, at: { name: 'invalid_idempotent_request' }, means: 'mismatch' },
      // The server found no key, or none that it accepts: this dialect is the wrong one for it.
      { status: 400, at: { name: 'invalid_idempotency_key' }, means: 'refused' },
    ],
  });
