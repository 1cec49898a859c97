/** How an attempt may end. Types only. */
import type { ReplayableRequest } from './request.js';

/** An answer, and its body if that was read, so that copies of the answer can be made. */
export interface Answered {
  readonly response: Response;
  readonly body?: string | ArrayBuffer | null | undefined;
  readonly text: string;
  /** The text as JSON, if it was parsed already. */
  readonly json?: unknown;
}

/**
 * How an attempt ended. `mayResend`: the platform may have sent several copies, and this is the answer to one of them. `status`: set if
 * the status line arrived, but the body was cut.
 */
export type TransportResult =
  | { readonly end: 'answer'; readonly answered: Answered; readonly mayResend: boolean }
  | { readonly end: 'no-answer'; readonly cause?: unknown; readonly status: number | undefined }
  | { readonly end: 'not-sent'; readonly cause?: unknown };

/** Sends once. Never rejects; never waits longer than `ms`. */
export type SendOnce<Client, Attempt> = (client: Client, request: ReplayableRequest, attempt: Attempt) => Promise<TransportResult>;
