/** What screens and logs see: the state of each operation, and events. Types only. */
import type { OnceEvent, WaitReason } from '../core/event.js';
import type { Label } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import type { Json } from '../option-types.js';

/** An operation that has not settled, as it is stored. Times are wall clock, ms. */
export interface PendingOperation<Meta = Json> {
  readonly name: OperationName;
  readonly key: string;
  readonly createdAt: number;
  readonly firstSentAt: number | undefined;
  readonly sent: 'no' | 'maybe' | 'yes';
  /** When the server may have forgotten the key. */
  readonly expiresAt: number;
  readonly retryAt: number | undefined;
  /** `resume()` has a request to send. Without one, `resumeOne()` can still ask `reconcile`. */
  readonly resumable: boolean;
  /** A call is at it now: in this realm, or in another as far as can be seen. No banner is needed yet. Only `pending` looks; the state of an operation says `false`. */
  readonly inFlight: boolean;
  /** What the call gave as `meta`; absent where it gave none, and after `clear()`. */
  readonly meta: Meta | undefined;
  /** Hand it in as `after` to go on behind this one. */
  readonly cursor: string;
}

/** One operation, for a screen: the same object until it changes. */
export type OperationState =
  | { readonly phase: 'loading' }
  | { readonly phase: 'idle' }
  | { readonly phase: 'sending'; readonly attempt: number; readonly maxAttempts: number }
  | { readonly phase: 'waiting'; readonly attempt: number; readonly until: number | undefined; readonly why: WaitReason }
  | { readonly phase: 'unsettled'; readonly pending: PendingOperation }
  | { readonly phase: 'settled'; readonly outcome: Outcome };

export interface Listener {
  /** `of`: the call, where the event is of one. For this package alone. */
  readonly hears: (event: OnceEvent, of: object) => void;
  readonly begins: ((label: Label) => boolean) | undefined;
}

export interface ObservableState {
  state: OperationState;
  readonly listeners: Set<() => void>;
}
