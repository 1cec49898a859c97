/** How a drive begins and how it stops. Types only. */

import type { Begun } from '../core/begin.js';
import type { Decision, Wait } from '../core/decide.js';
import type { EndedRecord } from '../core/record.js';
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
