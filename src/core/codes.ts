/** Reasons of outcomes, and codes of errors. Types only. */

/** Why nobody can tell what became of an operation. */
export type UnknownReason =
  | 'no-answer'
  | 'refused-after-ambiguity'
  | 'refused'
  | 'not-a-verdict'
  | 'in-progress'
  | 'unavailable'
  | 'burnt'
  | 'mismatch'
  | 'elsewhere'
  | 'bytes'
  | 'key-expired'
  | 'identity'
  | 'offline'
  | 'store'
  | 'busy'
  | 'record'
  | 'aborted';

/** Why an operation never left this context. */
export type UnsentReason = 'offline' | 'unreachable' | 'aborted' | 'store-write' | 'unreplayable-body';

/** The literal code of each `OnceError`. */
export type OnceErrorCode =
  | 'ERR_ONCE_UNKNOWN'
  | 'ERR_ONCE_UNSENT'
  | 'ERR_ONCE_MISMATCH'
  | 'ERR_ONCE_ALREADY_SETTLED'
  | 'ERR_ONCE_KEY_EXPIRED'
  | 'ERR_ONCE_KEY_BURNT'
  | 'ERR_ONCE_ALREADY_DONE'
  | 'ERR_ONCE_BUSY'
  | 'ERR_ONCE_CLAIM_LOST'
  | 'ERR_ONCE_BODY'
  | 'ERR_ONCE_STORE'
  | 'ERR_ONCE_RECORD';
