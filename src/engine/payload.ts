/** What an operation sends: one payload, sent any number of times. */
import type { Reading } from '../core/dialect.js';
import type { StoredAnswer, StoredRequest } from '../core/record.js';
import type { WorkState } from '../core/work-state.js';
import type { ReplayableRequest } from '../http/request.js';
import type { OperationRun } from './client.js';

/** The answer to an attempt, or the value that an effect returned. */
export interface Result {
  readonly value: unknown;
  readonly response: Response | undefined;
  /** Whether giving it to a caller says that the operation is done. */
  readonly ok: boolean;
  /** A copy can be made at any time. */
  readonly lasting: boolean;
  /** A copy for another caller; `undefined` when none can be made any more. */
  copy(): unknown;
  /** The form for the store; `undefined` when it can't be stored. */
  stored(): StoredAnswer | undefined;
}

/** What an app's `reconcile` could prove. */
export type Proof = Result | 'done' | 'none';

/** How one attempt is to be made. */
export interface AttemptRequest {
  readonly job: OperationRun;
  readonly key: string;
  /** Where the key goes, as stored. */
  readonly carrier: string;
  readonly firstSentAt: number;
  readonly number: number;
  readonly ambiguous: boolean;
  readonly resumed: boolean;
  /** Another payload may have gone out under this key. */
  readonly otherPayloads: boolean;
  readonly ms: number;
  /** Called after a slow hook: whether this driver still owns the record. */
  stillMine?(): Promise<boolean>;
  /** Called right before the transport or the effect; `false`: do not call it. */
  leaves(): boolean;
}

/** How an attempt ended, as read by the rules. */
export interface AttemptResult {
  readonly reading: Reading;
  readonly result?: Result | undefined;
  readonly cause?: unknown;
  /** The server answered, if only with a status line. */
  readonly reached: boolean;
  readonly retryAfterMs?: number | undefined;
  /** The platform may have sent the request twice unseen, so the answer may speak of one copy only. */
  readonly mayResend?: boolean | undefined;
  /** Of a refusal: a digest of its status and body. */
  readonly refusal?: string | undefined;
}

export interface Payload {
  readonly origin: string;
  /** Method, origin and path, where a key may count; empty for what is no HTTP request. */
  readonly endpoint: string;
  /** This payload with the bytes of an earlier call: the server may have compared those. */
  withBytesOf?(earlier: Payload): Payload;
  readonly prepared?: ReplayableRequest | undefined;
  /** Whether it is safe to send again: the server knows keys. Absent: it is. */
  keyed?(job: OperationRun, carrier: string): boolean;
  /** Never rejects. */
  send(a: AttemptRequest): Promise<AttemptResult>;
  /** What another context needs to send it; `undefined` when only this one can. */
  storable(headers: readonly string[]): StoredRequest | undefined;
}

/** The result of one poll. */
export interface Polled {
  readonly state: WorkState;
  readonly result?: Result | undefined;
  readonly retryAfterMs?: number | undefined;
}
