/** What screens and logs see: the state of each operation, and events. Types only. */
import type { Answer, Dialect } from '../core/dialect.js';
import type { OnceEvent, OnceEventDetail, WaitReason } from '../core/event.js';
import type { Label, Namespace, OperationKey } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import type { OnceRecord } from '../core/record.js';
import type { Json } from '../option-types.js';
import type { TabChannel } from '../ports.js';
import type { Result } from './result.js';
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

export interface Listener {
  readonly hears: (event: OnceEvent) => void;
  readonly begins: ((label: Label) => boolean) | undefined;
}

/** An operation, with its user if that is known. */
export interface Named {
  readonly name: OperationName;
  readonly label: Label;
  readonly namespace?: Namespace;
}

/** What the engine reports of a call; `log.ts` turns it into events. */
export type Happened =
  | Exclude<OnceEventDetail, { readonly type: 'diagnostic' | 'wait' | 'settled' | 'unknown' }>
  /** `result`: that of the last attempt. */
  | (Extract<OnceEventDetail, { readonly type: 'wait' | 'settled' | 'unknown' }> & { readonly result?: Result | undefined })
  /** `where`: the server or page that the diagnostic is about; listeners hear it once for each. `cause`: the error that the store rejected with. */
  | { readonly type: 'diagnostic'; readonly code: string; readonly where?: string | undefined; readonly cause?: unknown }
  | { readonly type: 'answered'; readonly origin: string; readonly answer: Answer; readonly ambiguous: boolean; readonly dialect: Dialect }
  | { readonly type: 'silence'; readonly origin: string; readonly number: number };

/** Empty until somebody listens: `log.ts` fills it. */
export interface Log<Client> {
  tell?: (call: Named & { readonly client: Client }, key: string, happened: Happened) => void;
  /** The address of the call that an event is about. Internal to this package. */
  callOf?: WeakMap<OnceEvent, object>;
}

/** What the engine tells of an operation. `left`: the record of a call that left it open. */
export type Told = OperationState | { readonly phase: 'unsettled'; readonly left: OnceRecord };

export interface ObservableState {
  state: OperationState;
  readonly listeners: Set<() => void>;
  /** The client that is about to read it from the store. */
  reader?: object | undefined;
  /** Another read is scheduled, by a client that closes with this signal. */
  scheduled?: StopSignal | undefined;
}

/** What the screens of one realm have in common. */
export interface ScreenTables<Client> {
  /** What screens see, by operation key. */
  readonly lives: Map<OperationKey, ObservableState>;
  /** Shows what a call tells; if it tells nothing, that it has ended. Set by the first screen: until then calls only note in `lives` what they tell. */
  show?: ((client: Client, operationKey: OperationKey, told?: Told) => void) | undefined;
  /** Callbacks that make screens look again. `stored`: whether each screen must read the store (`true`), none, or those of one operation. */
  readonly screens: Set<(stored: boolean | OperationKey) => void>;
  /** Between this page and other tabs. `channel` is open, and `off` ends that, while there is a screen; `telling`: a message will leave in this tick. */
  readonly hearing: { channel?: TabChannel | undefined; off?: (() => void) | undefined; telling?: boolean };
}
