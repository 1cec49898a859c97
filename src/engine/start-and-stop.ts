/** What a drive is given, and what it leaves. Types only. */
import type { Decision, Wait } from '../core/decide.js';
import type { OnceRecord } from '../core/record.js';
import type { Result } from './payload.js';

/** How a drive stops: a decision that is no wait, with what led to it. */
export interface Stopped {
  readonly decision: Exclude<Decision, Wait>;
  readonly result?: Result | undefined;
  readonly cause?: unknown;
  /** Another context took the record over. */
  readonly lost?: boolean;
  /** Another context has ended the very same operation. */
  readonly ended?: OnceRecord;
}

/** A drive's first view of its record. */
export interface Start {
  readonly record: OnceRecord;
  readonly inserted: boolean;
  readonly resumed: boolean;
  readonly changed: boolean;
  readonly sentBefore: boolean;
  readonly otherBytes: boolean;
}
