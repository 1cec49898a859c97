/** What screens show: the state of each operation. Types only; `screens.ts` has the functions. */
import type { WaitReason } from '../core/event.js';
import type { OperationKey } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import type { OnceRecord } from '../core/record.js';
import type { Json } from '../option-types.js';
import type { TabChannel } from '../ports.js';
import type { StopSignal } from './stop-signal.js';

/** An operation that has not settled, as it is stored. Times are wall clock, ms. */
export interface PendingOperation<Meta = Json> {
  readonly name: OperationName;
  readonly key: string;
  readonly createdAt: number;
  readonly firstSentAt: number | undefined;
  readonly sent: 'no' | 'maybe' | 'yes';
  /**
   * When the server may have forgotten the key. A call sends nothing any more from `limits.attemptMs` before that. Polling
   * the work behind a 202 needs no key: then this is the time when the operation is forgotten.
   */
  readonly expiresAt: number;
  readonly retryAt: number | undefined;
  /** `resume()` has a request to send, and this client the dialect of its call. Otherwise, `resumeOne()` can still ask `reconcile`. */
  readonly resumable: boolean;
  /**
   * A call is driving it now, in this realm or, as far as can be seen, in another one, so no banner is needed yet. Only `pending` looks
   * for that; in the state of an operation this is `false`.
   */
  readonly inFlight: boolean;
  /** The `meta` that the call gave; absent if it gave none, and after `clear()`. */
  readonly meta: Meta | undefined;
  /** Give it as `after` to list the operations that come after this one. */
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

/** What the engine tells of an operation. `left`: the record of a call that left it open. */
export type Told = OperationState | { readonly phase: 'unsettled'; readonly left: OnceRecord };

/** What the screens of this realm show of one operation, and who looks at it. */
export interface ShownState {
  state: OperationState;
  readonly listeners: Set<() => void>;
  /** The client that is about to read it from the store. */
  reader?: object | undefined;
  /** A look without a subscription is reading it. */
  looks?: boolean;
  /** Another read is scheduled, by a client that closes with this signal. */
  scheduled?: StopSignal | undefined;
}

/** What the screens of one realm have in common. */
export interface ScreenTables<Client> {
  /** What screens show, by operation key. */
  readonly states: Map<OperationKey, ShownState>;
  /** Shows what a call tells; if it tells nothing, that it has ended. Set by the first screen: until then calls only note in `states` what they tell. */
  show?: ((client: Client, operationKey: OperationKey, told?: Told) => void) | undefined;
  /** Callbacks that make screens look again. `stored`: whether each screen must read the store (`true`), none, or those of one operation. */
  readonly screens: Set<(stored: boolean | OperationKey) => void>;
  /** Between this page and other tabs. `channel` is open, and `off` ends that, while there is a screen; `telling`: a message will leave in this tick. */
  readonly hearing: { channel?: TabChannel | undefined; off?: (() => void) | undefined; telling?: boolean };
}
