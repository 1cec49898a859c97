import { type DefinedDialect, defineDialect } from './define.js';
import { inHeader } from './key-location.js';

/**
 * Adyen. The answer echoes the key, whether it is the first one or a replay, so nothing marks a replay. `transient-error`
 * says whether the same key is worth another attempt. Keys count for a company account and one region: another host has never
 * seen them.
 *
 * Not known: how it answers the same key with another payload, and which refusals it keeps. Its pages have said "at least 31
 * days"; 7 days are taken here, because a shorter window only asks earlier.
 *
 * @see https://docs.adyen.com/development-resources/api-idempotency
 */
export const adyen = (): DefinedDialect =>
  defineDialect({
    name: 'adyen',
    place: inHeader('idempotency-key'),
    pattern: /^[\x21-\x7e]{1,64}$/,
    windowMs: 604_800_000,
    scope: ['account', 'region'],
    marker: false,
    replays: true,
    // "request already processed or in progress"
    answers: [{ status: [409, 422], at: { errorCode: '704' }, means: 'in-progress' }],
  });
