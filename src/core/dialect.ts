/** How a family of servers speaks idempotency, as far as the rules need to know. */
import type { Carry } from './carrier.js';

/** One HTTP answer as the rules see it. */
export interface Answer {
  readonly status: number;
  /** `opaque`, `opaqueredirect` …: fetch's response type. */
  readonly type: string;
  readonly redirected: boolean;
  header(name: string): string | null;
  /** The body as text; empty when there is none or it was not read. */
  readonly text: string;
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly json: unknown;
  /** The body was not read, or not by us. */
  readonly unread?: boolean;
}

/** What the rules know of the request. */
export interface Asked {
  readonly method: string;
  readonly key: string;
  /** An answer in HTML can't be the application's answer to this request. */
  readonly refusesHtml: boolean;
  /** What a 202 means. `settle`: it is the answer to every copy of the request. `poll`: the work goes on. */
  readonly accepted?: 'settle' | 'poll' | undefined;
  /** Another payload may have gone out under this key. Only then can the server mean one when it reports a mismatch. */
  readonly otherPayloads: boolean;
}

/** What an answer, or the lack of one, means: one word per row of the table of verdicts. */
export type AnswerKind =
  | 'not-sent'
  | 'no-answer'
  | 'not-a-verdict'
  | 'accepted'
  | 'replayed'
  | 'burnt'
  | 'mismatch'
  | 'done-elsewhere'
  | 'open'
  | 'in-progress'
  | 'fresh'
  | 'transient'
  | 'refused';

/** What one answer means. `decide` chooses the next step by it. */
export interface Reading {
  readonly kind: AnswerKind;
  /** This attempt may have had the operation's effect. */
  readonly ambiguous: boolean;
  /** Of a refusal: the server keeps it, and repeats it for this key. */
  readonly sticky?: boolean | undefined;
  /**
   * Of a refusal: who made it, as far as the answer tells. `application`: it looked the key up first, so the key may be used up.
   * `in-front`: a proxy, a login or a rate limit may have answered before anything looked at the key. Absent: nothing tells.
   */
  readonly from?: 'application' | 'in-front' | undefined;
  /** Of a refusal: it has the replay marker. */
  readonly replayed?: boolean | undefined;
  /** Of `done-elsewhere`: the server's id of the thing that exists already. */
  readonly resource?: string | undefined;
}

/** How a family of servers speaks idempotency: where the key goes, how its answers are read, how long it remembers. Made by `defineDialect`. */
export interface Dialect {
  readonly name: string;
  /** Where the key goes, as text (`core/carrier.ts`); empty if the server knows no keys, so that nothing is sent twice. */
  readonly carrier: string;
  /** Code for places that are not headers. */
  readonly carry?: ((carrier: string) => Carry | undefined) | undefined;
  /** What a key must look like. */
  readonly keyPattern: RegExp;
  /** Turns a UUID into a key that fits the pattern. */
  readonly shape?: ((uuid: string) => string) | undefined;
  /** How long the server remembers a key, ms from its first attempt. */
  readonly windowMs: number;
  /** The server is known to replay its stored answer. */
  readonly replays: boolean;
  /** The server is known to report a mismatch if a key comes with another payload; `false`: it is known not to. */
  readonly answersMismatch?: boolean | undefined;
  /** How long to wait for work in progress if the answer does not say, ms. */
  readonly inProgressAfterMs?: number | undefined;
  /** Where a key counts: at one method, origin and path, which is assumed unless the server is known to do otherwise, or at one origin. @default 'endpoint' */
  readonly scope?: 'endpoint' | 'origin' | undefined;
  /** `false`: a key counts for all accounts of the app. Otherwise the server may never have seen it for another account. */
  readonly perAccount?: boolean | undefined;
  /** Whether the answer has the replay marker, with the value that means "replayed". */
  replayed(answer: Answer): boolean;
  /** Whether the answer has any sign of the server's key layer, such as the replay marker with the value false. */
  keyLayer?(answer: Answer): boolean;
  /** Reads the answer to a poll of a 202's link; `undefined` leaves it to the common rules. */
  polled?(answer: Answer): 'running' | 'done' | 'failed' | undefined;
  /** Reads the server's own codes; `undefined` leaves the answer to the common rules. */
  read?(answer: Answer, asked: Asked, ambiguous: boolean): Reading | undefined;
}
