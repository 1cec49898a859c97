/** How a drive begins and how it stops, and what it knows of refusals. Types only. */

import type { Begun } from '../core/claimant.js';
import type { UnknownReason } from '../core/codes.js';
import type { Decision, Situation, Wait } from '../core/decide.js';
import type { Reading } from '../core/dialect.js';
import type { EndedRecord, OnceRecord, Refusal } from '../core/record.js';
import type { Result } from './result.js';

/** A drive's first view of its record. `asks`: it may send nothing, and has not claimed the record: it only asks `reconcile`. */
export type Start = Omit<Extract<Begun, { do: 'drive' }>, 'do'> & { readonly asks?: true };

/** How a drive stops: any decision but to wait, with what led to it. */
export interface Stopped {
  readonly decision: Exclude<Decision, Wait>;
  readonly result?: Result | undefined;
  readonly cause?: unknown;
  /** Another context took the record over. */
  readonly lost?: boolean;
  /** Another context has ended the very same operation. */
  readonly ended?: EndedRecord;
}

/** A drive's view of the refusals under its key. */
export interface Refusals {
  last(): Refusal | undefined;
  /** What `decide` must know of earlier refusals. */
  known(): Pick<Situation, 'refusedOnly' | 'madeAgain'>;
  note(sent: { readonly reading: Reading; readonly refusal?: string | undefined }): number | undefined;
  /** Called when an attempt leaves. */
  leaves(): void;
  toStore(reason: UnknownReason): Pick<OnceRecord, 'refusedOnly' | 'refusal' | 'madeAgain'> | undefined;
}
