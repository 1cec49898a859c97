/** What screens and logs see: the state of each operation, and events. Types only. */
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
  /** `resume()` has a request to send. */
  readonly resumable: boolean;
  /** A call is at it now: in this realm, or in another as far as can be seen. No banner is needed yet. */
  readonly inFlight: boolean;
  /** What the call gave as `meta`; absent where it gave none, and after `clear()`. */
  readonly meta: Meta | undefined;
  /** Hand it in as `after` to go on behind this one. */
  readonly cursor: string;
}

/** What a call waits for before its next step. */
export type WaitReason = 'backoff' | 'in-progress' | 'retry-after' | 'offline' | 'another-context';

/** One operation, for a screen: the same object until it changes. */
export type OperationState =
  | { readonly phase: 'loading' }
  | { readonly phase: 'idle' }
  | { readonly phase: 'sending'; readonly attempt: number; readonly maxAttempts: number }
  | { readonly phase: 'waiting'; readonly attempt: number; readonly until: number | undefined; readonly why: WaitReason }
  | { readonly phase: 'unsettled'; readonly pending: PendingOperation }
  | { readonly phase: 'settled'; readonly outcome: Outcome };

/**
 * What happened, for a log. `at`: wall clock, ms. No body and no credential is ever in it. `foreign`: its user has left
 * since it began, so it is nothing for the screen of whoever is here now.
 */
export type OnceEvent = { readonly operation: OperationName | undefined; readonly key: string; readonly at: number; readonly foreign: boolean } & (
  | { readonly type: 'attempt'; readonly attempt: number }
  | { readonly type: 'wait'; readonly until: number | undefined; readonly why: string }
  | { readonly type: 'settled' | 'unknown'; readonly outcome: Outcome }
  | { readonly type: 'diagnostic'; readonly code: string; readonly message: string }
);

export type OnceEventDetail = OnceEvent extends infer E ? (E extends OnceEvent ? Omit<E, 'operation' | 'key' | 'at' | 'foreign'> : never) : never;

export interface Listener {
  readonly hears: (event: OnceEvent) => void;
  readonly begins: ((label: Label) => boolean) | undefined;
}

export interface ObservableState {
  state: OperationState;
  readonly listeners: Set<() => void>;
}
