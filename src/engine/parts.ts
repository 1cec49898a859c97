/** What features add to a client. Types only. */
import type { OperationName } from '../core/name.js';
import type { UnknownReason } from '../core/outcome.js';
import type { RequestInput } from '../http/request.js';
import type { Settings } from '../options.js';
import type { Platform } from '../ports.js';
import type { AttemptLoop } from './attempt-loop.js';
import type { Client } from './client.js';
import type { Polled, Proof, Result } from './payload.js';
import type { Stopped } from './stopped.js';

/** What fetch was called with. */
export interface Called {
  readonly input: string | URL | Request;
  readonly init: RequestInit;
}

/** Each is present if its feature was given to `use`. */
export interface Parts {
  /** Sends an idempotent request that has no name, and sends it again. */
  readonly retry: (client: Client, settings: Settings, called: Called, send: () => Promise<Response>) => Promise<Response>;
  /** Makes an operation of a call without a name; `undefined` where it is to be left to fetch. `by`: what named it, if anything. */
  readonly unnamed: (client: Client, settings: Settings, request: RequestInput, by: 'content' | 'call' | undefined) => Promise<unknown> | undefined;
  /** Asks the app what became of an operation. */
  readonly prove: (loop: AttemptLoop, reason: UnknownReason | 'done-elsewhere', result: Result | undefined) => Promise<Proof | undefined>;
  /** Asks after the work behind the link of a 202 until it ends. */
  readonly askAfter: (loop: AttemptLoop, accepted: Result | undefined) => Promise<Polled | Stopped | undefined>;
  /** Derives the key, so that every context arrives at the same one. */
  readonly derive: (c: { namespace: string; operation: OperationName | undefined; generation: number }) => string;
  /** Adds to a platform what it lacks. */
  readonly platform: (platform: Platform) => Platform;
}
