/** What a dialect is defined by. */
import type { AnswerKind, Dialect } from '../core/dialect.js';
import type { KeyLocation } from './key-location.js';
import type { Match } from './matching.js';

/** What one kind of answer means. */
export interface AnswerRule extends Match {
  /**
   * `in-progress`: an earlier attempt is at work; the same key is sent again later. `mismatch`: the key came with another payload
   * before. `done-elsewhere`: it is done, but the server does not give the answer again. `refused`: this attempt had no effect.
   * `transient`: another attempt with the same key may succeed. `burnt`: the server will not execute this key again, and nobody knows
   * what happened; if `reconcile` says `'none'`, the call goes on under a new key. `open`: the answer does not tell; ask `reconcile`.
   * `fresh`: it took effect, although the answer does not look like it; with the replay marker, that counts as `replayed`.
   */
  readonly means: Exclude<AnswerKind, 'not-sent' | 'no-answer' | 'not-a-verdict' | 'accepted' | 'replayed'>;
  /** For `refused`: no later copy under this key can take effect, because it gets the same refusal or is turned away as a repetition. Not allowed for a 5xx. */
  readonly sticky?: boolean | undefined;
  /** For `done-elsewhere`: the path to the server's id of the thing that exists already. */
  readonly resource?: string | undefined;
}

/** How a server speaks idempotency. Leave out what is not known. */
export interface DialectDefinition {
  /**
   * The name for messages and records: letters, digits and hyphens. Two servers at different paths of one origin need two names. Accounts of one
   * server do not: put the account into the operation's name.
   */
  readonly name: string;
  readonly place: KeyLocation;
  /** What a key must look like. @default visible ASCII, at most 255 characters */
  readonly pattern?: RegExp | undefined;
  /** Turns a UUID into a key that fits the pattern. Needed if UUIDs do not fit it. */
  readonly shape?: ((uuid: string) => string) | undefined;
  /** How long the server remembers a key, ms from its first attempt. @default 86_400_000 (24 h), as an assumption */
  readonly windowMs?: number | undefined;
  /**
   * Where a key counts; elsewhere the same key is another operation. Without `endpoint` in the list, the key of an unsettled operation
   * may be sent to another path of the same origin, but never to another origin. @default ['endpoint']
   */
  readonly scope?: readonly ('account' | 'region' | 'endpoint')[] | undefined;
  /**
   * `false`: a key counts for all users of the app, so after a log-in `move` lets a guest's operation go on with its key. Otherwise the server
   * may count keys per user, and would execute the operation a second time: nothing is sent for it. @default true
   */
  readonly perAccount?: boolean | undefined;
  /** What marks an answer as a replay; `false` if nothing does. @default every marker in use, such as `Idempotent-Replayed: true` */
  readonly marker?: Match | false | undefined;
  /** Once an operation is done, a repetition of its key gets the same answer again. @default false, as it is not known */
  readonly replays?: boolean | undefined;
  /** Whether the server refuses the same key with another payload. `false`: it is known not to, so another payload is never sent under the same key. */
  readonly answersMismatch?: boolean | undefined;
  /** How long to wait for work in progress if the answer does not say, ms. @default exponential backoff */
  readonly inProgressAfterMs?: number | undefined;
  /** Reads the answer to a poll of a 202's link; `undefined` leaves it to the common rules. */
  readonly polled?: Dialect['polled'] | undefined;
  /** Rules for the server's own answers. The first that matches counts; an answer that matches none is read by the common rules. */
  readonly answers?: readonly AnswerRule[] | undefined;
}
