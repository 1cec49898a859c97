/** What features add to a client. Types only. */
import type { OperationName } from '../core/name.js';
import type { Outline } from '../http/outline.js';
import type { Settings } from '../options.js';
import type { Platform } from '../ports.js';
import type { AttemptLoop } from './attempt-loop.js';
import type { Client } from './client.js';
import type { Polled, Result } from './payload.js';
import type { Stopped } from './stopped.js';

/** Each is present if its feature was given to `use`. */
export interface Parts {
  /** Sends an idempotent request that has no name, and sends it again. */
  readonly retry: (client: Client, settings: Settings, call: Outline, send: () => Promise<Response>) => Promise<Response>;
  /** Asks after the work behind the link of a 202 until it ends. */
  readonly askAfter: (loop: AttemptLoop, accepted: Result | undefined) => Promise<Polled | Stopped | undefined>;
  /** Derives the key, so that every context arrives at the same one. */
  readonly derive: (c: { namespace: string; operation: OperationName | undefined; generation: number }) => string;
  /** Adds to a platform what it lacks. */
  readonly platform: (platform: Platform) => Platform;
}
