/** What the transport gives for one attempt: an answer, or what is known without one. Types only. */
import type { Reading } from '../core/dialect.js';
import type { ReplayableRequest } from './request.js';

/** An answer, and its body if that was read, so that copies of the answer can be made. */
export interface Answered {
  readonly response: Response;
  readonly body?: string | ArrayBuffer | null | undefined;
  readonly text: string;
  /** The text as JSON, if it was parsed already. */
  readonly json?: unknown;
}

/** How an attempt ended. `mayResend`: the platform may have sent several copies, and this is the answer to one of them. */
export type TransportResult = { readonly answered: Answered; readonly mayResend: boolean } | Unanswered;

/** What is known of an attempt without an answer. */
interface Unanswered {
  readonly answered?: undefined;
  readonly reading: Reading;
  readonly cause?: unknown;
  /** A response arrived, but its body was cut. */
  readonly reached?: boolean;
}

/** Sends once. Never waits longer than `ms`. */
export type SendOnce<Client, Attempt> = (client: Client, request: ReplayableRequest, attempt: Attempt) => Promise<TransportResult>;
