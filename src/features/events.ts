/** Events for logs. */

import { check, checkOne } from '../check.js';
import type { OnceEvent } from '../core/event.js';
import { namePrefix, type OperationName } from '../core/name.js';
import type { Listener } from '../engine/happened.js';
import { openLog } from '../engine/log.js';
import { clientOf, type Once } from '../once.js';

/** Which events to hear, and for how long. */
export interface SubscribeOptions {
  /** Only events of operations whose names begin with this. */
  prefix?: OperationName | undefined;
  /** Unsubscribes when it is aborted. */
  signal?: AbortSignal | undefined;
}

/**
 * Calls back on every event of this client.
 *
 * @returns a function that unsubscribes
 * @throws TypeError on a wrong option, or if the listener is not a function
 * @example
 * subscribe(once, (event) => log(event.type, event.operation));
 */
export function subscribe(once: Once, listener: (event: OnceEvent) => void, options: SubscribeOptions = {}): () => void {
  const client = clientOf(once, 'subscribe');
  const { listeners } = client;
  checkOne(listener, 'function', 'the listener of subscribe');
  check(options, { prefix: 'array', signal: 'signal' }, 'subscribe');
  const { prefix, signal } = options;
  // Another listener may have unsubscribed this one just now.
  const hears = (event: OnceEvent): unknown => listeners.has(entry) && listener(event);
  const entry: Listener = { hears, begins: namePrefix(prefix)?.begins };
  openLog(client);
  const off = (): void => {
    listeners.delete(entry);
    signal?.removeEventListener('abort', off);
  };
  if (!signal?.aborted) listeners.add(entry);
  signal?.addEventListener('abort', off);
  return off;
}
