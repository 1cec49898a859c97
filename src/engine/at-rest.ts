/** How requests and answers are stored. Types only. */
import type { IdempotencyKey } from '../core/ids.js';
import type { OnceRecord, StoredAnswer, StoredRequest } from '../core/record.js';
import type { Result } from './result.js';

export interface StoredRequests<Payload, Run> {
  /** `undefined` if only this context can send the payload. */
  toStore(payload: Payload, headers: readonly string[]): StoredRequest | undefined;
  /** `undefined` if no request is stored. */
  fromStore(record: Pick<OnceRecord, 'request' | 'origin'>): Payload | undefined;
  /** After a failed write: the same call, which stores no request. `undefined` if it stores none anyway, or if that write may be done. */
  without(job: Run, cause: unknown, key: IdempotencyKey): Promise<Run | undefined>;
}

export interface StoredAnswers {
  /** `undefined` if the answer can't be stored. */
  toStore(result: Result): StoredAnswer | undefined;
  /** `undefined` if this platform can't make such a Response. */
  fromStore(stored: StoredAnswer): Result | undefined;
}
