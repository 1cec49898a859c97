/** Makes the browser ask before a page is left while something is being sent. */
import { check } from '../check.js';
import type { Label } from '../core/ids.js';
import { namePrefix, type OperationName } from '../core/name.js';
import { partsOf } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import * as screens from '../engine/screens.js';
import { clientOf, type Once } from '../once.js';

/** Which operations count, and for how long. */
export interface WarnOnLeaveOptions {
  /** Only operations whose names begin with this. */
  prefix?: OperationName | undefined;
  /** Ends the warning when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** The page's window; `undefined` in workers and on servers. */
const page = (): Pick<Window, 'addEventListener' | 'removeEventListener'> | undefined => ('document' in globalThis ? globalThis.window : undefined);

/**
 * Makes the browser ask "Leave this page?" while this page sends something or waits to send it again. At any other time there is no
 * listener, so that the page can go into the back-forward cache. In workers and on servers it does nothing.
 *
 * Browsers ask only after a click or a key press in the page, and in their own words; phones may not ask at all. If the user leaves
 * all the same, the operation stays unsettled, and the next page can go on with it.
 *
 * @returns a function that ends it
 * @throws TypeError on a wrong option
 * @see https://developer.mozilla.org/docs/Web/API/Window/beforeunload_event
 * @example
 * const stop = warnOnLeave(once, { prefix: ['pay'] });
 */
export function warnOnLeave(once: Once, options: WarnOnLeaveOptions = {}): () => void {
  const client = clientOf(once, 'warnOnLeave');
  check(options, { prefix: 'array', signal: 'signal' }, 'warnOnLeave');
  const { prefix, signal } = options;
  const begins = namePrefix(prefix)?.begins;
  const window = page();
  const asks = (event: BeforeUnloadEvent): void => {
    if (!isSending(client, begins)) return;
    event.preventDefault();
    // Chromium before version 119 needs this instead.
    event.returnValue = true;
  };
  const look = (): void => {
    if (isSending(client, begins)) window?.addEventListener('beforeunload', asks);
    else window?.removeEventListener('beforeunload', asks);
  };
  const unwatch = screens.watch(client, look);
  const stop = (): void => {
    unwatch();
    window?.removeEventListener('beforeunload', asks);
    signal?.removeEventListener('abort', stop);
  };
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  else look();
  return stop;
}

/** Whether a call of this page is sending something or will send it again. A call that waits for another tab does not count: leaving loses nothing. */
function isSending({ registry, store }: Client, begins: ((label: Label) => boolean) | undefined): boolean {
  return [...registry.flights.keys()].some((operationKey) => {
    const [scope, , label] = partsOf(operationKey);
    const state = registry.states.get(operationKey)?.state;
    const sends = state?.phase === 'sending' || (state?.phase === 'waiting' && state.why !== 'another-context' && state.attempt > 0);
    return sends && scope === store.scope && (!begins || begins(label));
  });
}
