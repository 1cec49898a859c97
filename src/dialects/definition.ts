/** What a dialect is defined by. */
import type { AnswerKind, Dialect } from '../core/dialect.js';
import type { KeyLocation } from './key-location.js';
import type { Match } from './matching.js';

/** What one kind of answer means. */
export interface AnswerRule extends Match {
  /**
   * `in-progress`: an earlier attempt is at work; the same key is sent again later. `mismatch`: the key came with another
   * payload. `done-elsewhere`: it is done, and the server has no answer left to give. `refused`: it did not happen by this
   * attempt. `transient`: it may work with the same key. `burnt`: the server will not execute this key again, and nobody
   * knows what happened; where `reconcile` says `'none'`, the call goes on under a new key. `open`: only a look elsewhere can
   * tell. `fresh`: it happened, though the answer does not look like it; with the replay marker, that reads as `replayed`.
   */
  readonly means: Exclude<AnswerKind, 'not-sent' | 'no-answer' | 'not-a-verdict' | 'accepted' | 'replayed'>;
  /** Of a refusal: after it no copy under the key takes effect, because each gets it too or is turned away as a repeat. Never of a 5xx. */
  readonly sticky?: boolean | undefined;
  /** Of what is done elsewhere: the path to what the server calls it. */
  readonly resource?: string | undefined;
}

/** How a server speaks idempotency. What is left out is not known. */
export interface DialectDefinition {
  /** In messages and records: letters, digits and hyphens. */
  readonly name: string;
  readonly place: KeyLocation;
  /** What a key must look like. @default visible ASCII, at most 255 characters */
  readonly pattern?: RegExp | undefined;
  /** Makes a UUID fit the pattern, where it does not by itself. */
  readonly shape?: ((uuid: string) => string) | undefined;
  /** How long the server remembers a key, ms from its first attempt. @default 86_400_000 (24 h), as an assumption */
  readonly windowMs?: number | undefined;
  /**
   * Within what a key counts: the same key elsewhere is another operation. Without `endpoint` in it the key of an operation whose
   * outcome is open may be sent to another path of the same origin, and never to another origin. @default ['endpoint']
   */
  readonly scope?: readonly ('account' | 'region' | 'endpoint')[] | undefined;
  /** A key counts for one signed-in user, so what a guest began can't be told after log-in. @default false */
  readonly perAccount?: boolean | undefined;
  /** What a stored answer bears; `false` where nothing tells. @default every marker in use, such as `Idempotent-Replayed: true` */
  readonly marker?: Match | false | undefined;
  /** A done operation's answer is given again to its key. @default false, as it is not known */
  readonly replays?: boolean | undefined;
  /** The same key with another payload is refused; `false`: known not to be, so another payload is never sent under it. */
  readonly answersMismatch?: boolean | undefined;
  /** How long to wait for work in progress where the answer does not say, ms. @default exponential backoff */
  readonly inProgressAfterMs?: number | undefined;
  /** Reads an answer behind the link of a 202; `undefined` leaves it to its status. */
  readonly polled?: Dialect['polled'] | undefined;
  /** The server's own answers; the first that matches counts, and what none matches is read as any server's. */
  readonly answers?: readonly AnswerRule[] | undefined;
}
