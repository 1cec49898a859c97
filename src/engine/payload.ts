/** What an operation sends: one payload, sent any number of times. */
import type { Reading } from '../core/dialect.js';
import type { StoredAnswer, StoredRequest } from '../core/record.js';
import type { WorkState } from '../core/work-state.js';
import type { ReplayableRequest } from '../http/request.js';
import type { OperationRun } from './client.js';

/** What an attempt came to have in hand. */
export interface Result {
  readonly value: unknown;
  readonly response: Response | undefined;
  /** Handing it over says that it is done. */
  readonly ok: boolean;
  /** It can be given again at any time. */
  readonly lasting: boolean;
  /** One like it, for a caller who shares it; `undefined` when that is not possible any more. */
  copy(): unknown;
  /** As it is put to rest; `undefined` when it can't be. */
  stored(): StoredAnswer | undefined;
}

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
  /** Asked when a hook took its time: whether the record is still this driver's. */
  stillMine?(): Promise<boolean>;
  /** Asked right before the transport or the effect is called; `false`: it must not be. */
  leaves(): boolean;
}

/** What an attempt left, read. */
export interface AttemptResult {
  readonly reading: Reading;
  readonly result?: Result | undefined;
  readonly cause?: unknown;
  /** Something came back, if only a status line. */
  readonly reached: boolean;
  readonly retryAfterMs?: number | undefined;
  /** The platform may have sent it again without telling, so the answer is of one copy only. */
  readonly mayResend?: boolean | undefined;
  /** Of a refusal: a digest of its status and body. */
  readonly refusal?: string | undefined;
}

export interface Payload {
  readonly origin: string;
  /** Method, origin and path, where a key may count; empty for what is no HTTP request. */
  readonly endpoint: string;
  /** The same operation with the bytes of an earlier call, which a server may have compared. */
  withBytesOf?(earlier: Payload): Payload;
  readonly prepared?: ReplayableRequest | undefined;
  /** Whether it is safe to send again: the server knows keys. Absent: it is. */
  keyed?(job: OperationRun, carrier: string): boolean;
  /** Never rejects. */
  send(a: AttemptRequest): Promise<AttemptResult>;
  /** Asks after work that goes on; `undefined` when there is no link to ask at. */
  poll?(a: AttemptRequest, link: string): Promise<Polled>;
  /** The link of a 202, on the request's own origin. */
  link?(job: OperationRun, accepted: Response): string | undefined;
  /** What another context needs to send it; `undefined` when only this one can. */
  storable(headers: readonly string[]): StoredRequest | undefined;
}

/** What asking after work that goes on gave. */
export interface Polled {
  readonly state: WorkState;
  readonly result?: Result | undefined;
  readonly retryAfterMs?: number | undefined;
}
