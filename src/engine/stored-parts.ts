/** How requests and answers are stored, and what a call without a request sends. Types only. */
import type { IdempotencyKey } from '../core/ids.js';
import type { OnceRecord, StoredAnswer, StoredRequest } from '../core/record.js';
import type { Result } from './result.js';

export interface StoredRequests<Payload, Run, Drive> {
  /** `undefined` if only this context can send the payload. */
  toStore(payload: Payload, headers: readonly string[]): StoredRequest | undefined;
  /** `undefined` if no request is stored. */
  fromStore(record: Pick<OnceRecord, 'request' | 'origin'>): Payload | undefined;
  /** The stored requests of payloads before the present one, by fingerprint, with what the present one's headers say of where they take effect. */
  earlier(drive: Drive): (readonly [string, Payload])[] | undefined;
  /**
   * After a failed write: the call for a second one, without a request to store if the store is full. `undefined` if it stores none anyway, or if the
   * failed write was committed. `inserted`: the record was a new one. `isSecond`: a second write has failed, too.
   */
  second(job: Run, key: IdempotencyKey, cause: unknown, inserted: boolean | undefined, isSecond: boolean): Promise<Run | undefined>;
}

export interface StoredAnswers<Run> {
  /** `undefined` if the answer is not to be stored, or can't be. */
  answerToStore(job: Run, result: Result): StoredAnswer | undefined;
  /** `undefined` if this platform can't make such a Response. */
  fromStore(stored: StoredAnswer): Result | undefined;
}

/** What a drive sends, and the settings for it. Nothing is sent if one of the two is missing. */
export interface Sends<Payload, Settings> {
  readonly payload: Payload | undefined;
  readonly settings: Settings | undefined;
}
