/** What an attempt, a poll or a proof resulted in. Types only. */
import type { WorkState } from '../core/work-state.js';

/** The answer to an attempt, or the value that a function given to `run` returned. */
export interface Result {
  readonly value: unknown;
  readonly response: Response | undefined;
  /** The body of the response, if it was read. */
  readonly body?: string | ArrayBuffer | null | undefined;
  /** Whether a caller who gets it will take the operation for done. */
  readonly ok: boolean;
  /** A copy can be made at any time. */
  readonly lasting: boolean;
  /** A copy for another caller; `undefined` when none can be made any more. */
  copy(): unknown;
}

/** What an app's `reconcile` could prove. */
export type Proof = Result | 'done' | 'none';

/** The result of one poll. */
export interface Polled {
  readonly state: WorkState;
  readonly result?: Result | undefined;
  readonly retryAfterMs?: number | undefined;
}
