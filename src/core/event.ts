/** Events: what listeners hear of an operation. Types only. */
import type { OperationName } from './name.js';
import type { Outcome } from './outcome.js';

/** What a call waits for before its next step. */
export type WaitReason = 'backoff' | 'in-progress' | 'retry-after' | 'offline' | 'another-context';

/**
 * What happened to an operation, for a log. It never contains a body or a credential. `at`: wall clock, ms. `key`: empty while a call
 * waits for another context and does not know the key yet. `foreign`: another user is here now than when the call began, so do not
 * show it on the screen. `status`: that of the last answer; absent if the last attempt got none, or none that is whole. An `attempt` has it
 * if that answer used up the key, so that the call goes on under another one at once.
 */
export type OnceEvent = { readonly operation: OperationName | undefined; readonly key: string; readonly at: number; readonly foreign: boolean } & (
  | { readonly type: 'attempt'; readonly attempt: number; readonly status?: number | undefined }
  | { readonly type: 'wait'; readonly until: number | undefined; readonly why: string; readonly status?: number | undefined }
  | { readonly type: 'settled' | 'unknown'; readonly outcome: Outcome; readonly status?: number | undefined }
  | { readonly type: 'diagnostic'; readonly code: string; readonly message: string }
);

export type OnceEventDetail = OnceEvent extends infer E ? (E extends OnceEvent ? Omit<E, 'operation' | 'key' | 'at' | 'foreign'> : never) : never;
