/** What an attempt is sent with, and how it may end. Types only. */
import type { Stop } from '../engine/closing.js';
import type { ReplayableRequest } from './request.js';

/** An answer, and its body if that was read, so that copies of the answer can be made. */
export interface Answered {
  readonly response: Response;
  readonly body?: string | ArrayBuffer | null | undefined;
  readonly text: string;
}

/**
 * How an attempt ended. `mayResend`: the platform may have sent several copies, and this is the answer to one of them. `status`: set if
 * the status line arrived, but the body was cut.
 */
export type TransportResult =
  | { readonly end: 'answer'; readonly answered: Answered; readonly mayResend: boolean }
  | { readonly end: 'no-answer'; readonly cause?: unknown; readonly status: number | undefined }
  | { readonly end: 'not-sent'; readonly cause?: unknown };

/** How an attempt is to be sent. */
export interface Sending {
  readonly ms: number;
  readonly stop: Stop;
  readonly bodyBytes: number;
  /** Where the key is; empty without one. */
  readonly carrier?: string;
  /** Called right before the transport; `false`: do not call it. */
  leaves(): boolean;
}

/** Sends once. Never rejects; never waits longer than `ms`. */
export type SendOnce<Client, Attempt> = (client: Client, request: ReplayableRequest, sending: Sending, attempt: Attempt) => Promise<TransportResult>;
