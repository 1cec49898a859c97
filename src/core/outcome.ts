/** What became of an operation: plain data. */
import type { UnknownReason, UnsentReason } from './codes.js';
import type { OperationName } from './ids.js';

/** What every outcome says besides how it ended. */
export interface Facts {
  readonly operation: OperationName | undefined;
  readonly key: string | undefined;
  /** Attempts made by this call under this key, the first included. If the call found an earlier key used up, attempts under that key do not count. */
  readonly attempts: number;
  /** When the first attempt under this key was sent, in whatever context; wall clock, ms. */
  readonly firstSentAt: number | undefined;
  /** Whether any attempt of the operation may have reached the server, this call's or another's. */
  readonly sent: 'no' | 'maybe' | 'yes';
  /** This call went on with a key that was stored before it began. */
  readonly resumed: boolean;
  /** This call shared the answer of another one that was under way. */
  readonly joined: boolean;
  readonly storedIn: 'disk' | 'session' | 'memory';
}

/** How an operation ended: `effect` is what a screen needs, `type` what a log needs. */
export type Ending =
  | { readonly type: 'fresh'; readonly effect: 'done'; readonly certain: boolean; readonly changed: boolean }
  | { readonly type: 'replayed'; readonly effect: 'done'; readonly from: 'server' | 'store' | 'memory' | 'reconcile' | 'elsewhere' }
  | { readonly type: 'rejected'; readonly effect: 'none'; readonly replayed: boolean }
  | { readonly type: 'unsent'; readonly effect: 'none'; readonly reason: UnsentReason }
  | { readonly type: 'unknown'; readonly effect: 'unknown'; readonly reason: UnknownReason; readonly retryAt: number | undefined };

/** An ending without a verdict of the server or the app. */
export type Unsettled = Extract<Ending, { type: 'unsent' | 'unknown' }>;

/** What is known of an operation, as plain data: `effect` for the screen (done, none, unknown), `type` for the log, and the facts behind both. */
export type Outcome = Facts & Ending;

export const unknown = (reason: UnknownReason, retryAt?: number): Unsettled => ({ type: 'unknown', effect: 'unknown', reason, retryAt });
export const unsent = (reason: UnsentReason): Unsettled => ({ type: 'unsent', effect: 'none', reason });
export const rejected = (replayed = false): Ending => ({ type: 'rejected', effect: 'none', replayed });
export const fresh = (certain: boolean, changed: boolean): Ending => ({ type: 'fresh', effect: 'done', certain, changed });
export const replayed = (from: 'server' | 'store' | 'memory' | 'reconcile' | 'elsewhere'): Ending => ({ type: 'replayed', effect: 'done', from });
