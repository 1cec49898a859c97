/** What happens to an operation, as logs hear it. Types only. */
import type { OperationName } from './name.js';
import type { Outcome } from './outcome.js';

/** What a call waits for before its next step. */
export type WaitReason = 'backoff' | 'in-progress' | 'retry-after' | 'offline' | 'another-context';

/**
 * What happened, for a log. `at`: wall clock, ms. `key`: empty while a call waits for another context and has not read which key there is. No body and no credential is ever in it. `foreign`: its user has left
 * since it began, so it is nothing for the screen of whoever is here now.
 */
export type OnceEvent = { readonly operation: OperationName | undefined; readonly key: string; readonly at: number; readonly foreign: boolean } & (
  | { readonly type: 'attempt'; readonly attempt: number }
  | { readonly type: 'wait'; readonly until: number | undefined; readonly why: string }
  | { readonly type: 'settled' | 'unknown'; readonly outcome: Outcome }
  | { readonly type: 'diagnostic'; readonly code: string; readonly message: string }
);

export type OnceEventDetail = OnceEvent extends infer E ? (E extends OnceEvent ? Omit<E, 'operation' | 'key' | 'at' | 'foreign'> : never) : never;
